// SPDX-License-Identifier: Apache-2.0
// An answer as a line of output; of which it consists where several tasks have it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "model.hpp"

namespace etch::cli {

// {…, "tokens": …, "truncated": …}, what is before these by the model's task.
std::string answer_as_json(const Options& options, const Text& text, const Answer& answer);

// {"ids": […], "pieces": […], "offsets": [[start, end], …], "truncated": …}
std::string tokens_as_json(const Tokens& tokens);

// Floats of a row and their names: of the model, or of the head whose answer it is.
std::uint32_t width_of(const Answer& answer);
std::string_view name_in(const Answer& answer, std::uint32_t index);

// The labels that a model of several gives to a text; places of values, the largest first, of equals the first; what an
// entity is called; how many candidates of a mask are shown; which text holds the answer to a question.
std::vector<std::uint32_t> present_labels(const Answer& answer);
std::vector<std::uint32_t> best_first(const float* values, std::uint32_t count);
std::string_view entity_name(const Options& options, const Answer& answer, const TagSpan& span);
std::uint32_t candidates_shown(const Options& options, const Answer& answer);
std::string_view context_of(const Text& text);

// The next key of an object, behind the brace or the comma.
void append_key(std::string& out, const char* name);

// [width] floats of an answer, and [answer.tokens][width].
void append_floats(std::string& out, const char* name, const Answer& answer, const float* values);
void append_rows(std::string& out, const char* name, const Answer& answer);

// All values with a space between, in 9 significant digits, which give the same floats back.
std::string values_as_text(const Answer& answer);

// Bytes [begin, end) of a text and how sure the model is of them.
struct ScoredPlace {
    std::uint32_t begin;
    std::uint32_t end;
    float score;

    std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
};

// , "score": …, "start": …, "end": …
void append_place(std::string& out, const ScoredPlace& place);

// text TAB score TAB begin TAB end
void append_place_as_text(std::string& out, const ScoredPlace& place, std::string_view text);

}  // namespace etch::cli
