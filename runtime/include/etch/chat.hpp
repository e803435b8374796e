// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/text_list.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// What of a message is left out. White space is Unicode's, and U+001C to U+001F.
enum class Trim : std::uint8_t { nothing, first_line_feeds, white_space };

// How a conversation is written for a model that was trained on some: fixed text around messages, which a chat template
// of Jinja says and codegen/load/chat_template finds out.
struct Chat {
    std::string_view before;         // the user's first message; of a model without a chat all of these are empty
    std::string_view before_system;  // a system's message, in place of that,
    std::string_view behind_system;  // and between it and the user's first message
    std::string_view before_answer;  // between a message of the user and what the model answered
    std::string_view behind_answer;  // between that and the user's next message
    std::string_view ask;            // behind the last message: what the model goes on from
    bool takes_system = false;
    Trim trim_system = Trim::nothing;
    Trim trim_user = Trim::nothing;
    Trim trim_answer = Trim::nothing;
    std::string_view
        thinking_end;  // of an answer what stands up to the last one of these is left out, where not empty,
    Trim trim_behind_thinking = Trim::nothing;  // and this of what is left, before trim_answer

    constexpr bool exists() const noexcept { return !ask.empty(); }
};

// The text of a conversation, for a call that reads it with SpecialTokens::in_text: writes as much of its beginning as
// fits into `text` [capacity], which no message overlaps, and returns the size of all of it. `messages` [count] are the
// user's and the model's in turn, the user's first and last. Messages are bytes of any kind; special tokens that they
// spell are read as such. `system` may be null. 0 where there is no such conversation: of a model without a chat, with
// a system's message that it does not take, with a `count` that is even.
std::size_t chat_text(const Chat& chat, const std::string_view* system, TextList messages, std::size_t count,
                      char* text, std::size_t capacity) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
