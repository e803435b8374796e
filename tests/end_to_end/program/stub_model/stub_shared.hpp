// SPDX-License-Identifier: Apache-2.0
// What the stub model has whatever its task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/status.hpp"
#include "etch/task.hpp"
#include "etch/tokenizer.hpp"
#include "etch/workspace.hpp"

namespace etch {
namespace stub {

inline constexpr std::string_view kModelName = "stub";
inline constexpr std::string_view kRecipe = "fp32";
inline constexpr std::string_view kCheckpoint = "0123abcd";

inline constexpr std::uint32_t kMaxTokens = 5;
#if defined(STUB_PAIRS)
inline constexpr bool kPairs = true;
#else
inline constexpr bool kPairs = false;
#endif
inline constexpr std::size_t kTableBytes = 100;
inline constexpr std::size_t kArenaBytes = 64;
inline constexpr std::size_t kStackBudget = 4096;
inline constexpr std::size_t kScratchBytes = 64;

inline constexpr std::string_view kNames[] = {
    std::string_view("zero"),
    std::string_view("a\"b\\c"),
    std::string_view("new\nline\ttab"),
    std::string_view("nul\0nul", 7),
    std::string_view("\x1b[31mred"),
    std::string_view("bad \xff\xc3"),
    std::string_view("caf\xc3\xa9"),
    std::string_view("Case"),
    std::string_view("case"),
    std::string_view("9"),
    std::string_view("\xed\xa0\x80|\xc0\xaf|\xe0\x9f\xbf|\xf4\x90\x80\x80|\xf0\x9f\x98|\xf0\x9f\x98\x80\xe2\x82"),
    std::string_view("\u202etxt.exe\u2066 \u200b\U000E0041 \u200d"),
};

using Workspace = etch::Workspace<struct Model, kArenaBytes>;

struct Encoding {
    std::int32_t ids[kMaxTokens];
    std::uint8_t segments[kMaxTokens];
    TokenOffset offsets[kMaxTokens];
    std::uint32_t count;
    bool truncated;
    bool cut_word;
};

Status encode(Workspace& workspace, std::string_view text, Encoding& encoding) noexcept;
Status encode_pair(Workspace& workspace, std::string_view first, std::string_view second, Encoding& encoding) noexcept;
std::size_t piece(std::int32_t id, char* text, std::size_t capacity) noexcept;
Status select_kernel(Workspace& workspace, std::string_view name) noexcept;
std::string_view kernel(Workspace& workspace) noexcept;
std::string_view usable_kernel(std::size_t index) noexcept;
Status self_test(Workspace& workspace) noexcept;

// The number that a text begins with, 0 if none.
std::uint32_t leading_number(std::string_view text);

// The text's words as decimal numbers such as -2.5, 0 where there are no more; at most one point, no exponent.
void read_numbers(std::string_view text, float* numbers, std::uint32_t count);

// The start of every answer: a text "fail" is refused, the tokens of any other are counted.
template <class Result>
Status begin_answer(Workspace& workspace, std::string_view text, Result& result) {
    if (text == "fail") {
        return Status::text_too_long;
    }
    Encoding encoding;
    encode(workspace, text, encoding);
    result.tokens = encoding.count;
    result.truncated = encoding.truncated;
    return Status::ok;
}

// A batch by `answer`, which answers one text.
template <class Result>
Status answer_each(Status (&answer)(Workspace&, std::string_view, Result&) noexcept, Workspace& workspace,
                   const std::string_view* texts, std::size_t count, Result* results) {
    for (std::size_t i = 0; i < count; ++i) {
        const Status status = answer(workspace, texts[i], results[i]);
        if (status != Status::ok) {
            return status;
        }
    }
    return Status::ok;
}

}  // namespace stub
}  // namespace etch
