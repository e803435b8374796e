// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/answers.hpp"

#include "../tokenizer/unicode/utf8.hpp"
#include "etch/tokenizer/characters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr std::uint32_t kUsualLongest = 15;

std::uint32_t top_of(const AnswerOptions& options) noexcept {
    return options.top == 0 ? 1 : options.top;
}

// Whether the window's first row stands for "no answer": that of the token that the template begins with. Token ids of
// a caller may lack it; the first row is then one of the context.
bool has_first(const Template& parts, const QuestionState& state) noexcept {
    const bool is_text = parts.pair[0].id == TemplatePart::kFirst || parts.pair[0].id == TemplatePart::kSecond;
    return !is_text && state.first != 0;
}

// A span of the window's tokens of the context [first, last]. Spans are in order: by score, of equal ones the one that
// begins first, then the one that ends first.
struct Span {
    float score;
    std::uint32_t first;
    std::uint32_t last;
};

bool is_behind(const Span& a, const Span& b) noexcept {
    if (a.score != b.score) return a.score < b.score;
    return a.first != b.first ? a.first > b.first : a.last > b.last;
}

// The best span behind `before`, or any where that is null: false where there is none. `starts` and `ends` are those of
// the context.
bool next_span(const float* starts, const float* ends, std::uint32_t count, std::uint32_t longest, const Span* before,
               Span& found) noexcept {
    bool any = false;
    for (std::uint32_t first = 0; first < count; ++first) {
        for (std::uint32_t last = first; last < count && last - first < longest; ++last) {
            const Span span{starts[first] * ends[last], first, last};
            if (!(span.score >= 0.0F)) continue;  // no number
            if (before != nullptr && !is_behind(span, *before)) continue;
            if (!any || is_behind(found, span)) found = span;
            any = true;
        }
    }
    return any;
}

bool same_text(std::string_view context, const AnswerSpan& a, const AnswerSpan& b) noexcept {
    if (context.data() == nullptr) return a.begin == b.begin && a.end == b.end;  // of token ids
    const std::string_view one(context.data() + a.begin, a.end - a.begin);
    const std::string_view other(context.data() + b.begin, b.end - b.begin);
    std::uint32_t i = 0;
    std::uint32_t j = 0;
    while (i < one.size() && j < other.size()) {
        const auto x = tokenizer::decode(one, i);
        const auto y = tokenizer::decode(other, j);
        if (x.scalar != y.scalar && lower_case(x.scalar) != lower_case(y.scalar)) return false;
        i += x.size;
        j += y.size;
    }
    return i == one.size() && j == other.size();
}

// Where it lies in the context, widened to whole words.
AnswerSpan placed(const QuestionState& state, const AnswerOptions& options, const Span& span) noexcept {
    const TokenStream& tokens = state.stream;
    std::uint32_t first = span.first;
    std::uint32_t last = span.last;
    if (!options.by_tokens) {
        while (first != 0 && tokens.begins[first] == 0)
            --first;
        while (last + 1 < state.count && tokens.begins[last + 1] == 0)
            ++last;
    }
    return {span.score, tokens.offsets[first].begin, tokens.offsets[last].end};
}

// Of at least one answer, the last one of the worst.
std::uint32_t worst_of(const AnswerSpan* answers, std::uint32_t count) noexcept {
    std::uint32_t worst = 0;
    for (std::uint32_t i = 1; i < count; ++i) {
        if (answers[i].score <= answers[worst].score) worst = i;
    }
    return worst;
}

void add(const AnswerSpan& answer, AnswerSpan* answers, std::uint32_t capacity, QuestionState& state) noexcept {
    for (std::uint32_t i = 0; i < state.found; ++i) {
        if (same_text(state.context, answers[i], answer)) {
            answers[i].score = answers[i].score + answer.score;
            return;
        }
    }
    if (state.found < capacity) {
        answers[state.found++] = answer;
        return;
    }
    if (capacity == 0) return;
    AnswerSpan& worst = answers[worst_of(answers, capacity)];
    if (worst.score < answer.score) worst = answer;
}

}  // namespace

std::uint32_t gather_ends(const Template& parts, const F32Rows& logits, QuestionState& state) noexcept {
    std::uint32_t count = 0;
    const auto take = [&](std::uint32_t row) noexcept {
        const float* const ends = logits.from(row).data;
        state.starts[count] = ends[0];
        state.ends[count] = ends[1];
        ++count;
    };
    if (has_first(parts, state)) take(0);
    for (std::uint32_t i = 0; i < state.count; ++i)
        take(state.first + i);
    return count;
}

void add_answers(const AnswerOptions& options, std::uint32_t count, AnswerSpan* answers, std::uint32_t capacity,
                 QuestionState& state) noexcept {
    const std::uint32_t before = count - state.count;  // 1 where gather_ends() found a row for "no answer"
    const float none = before != 0 ? state.starts[0] * state.ends[0] : 0.0F;
    if (state.windows == 1 || none < state.no_answer) state.no_answer = none;
    const std::uint32_t top = top_of(options);
    const std::uint32_t longest = options.longest == 0 ? kUsualLongest : options.longest;
    const std::uint64_t wanted = options.by_tokens ? top : std::uint64_t{2} * top + 10;
    Span span{};
    for (std::uint64_t i = 0; i < wanted; ++i) {
        const Span last = span;
        if (!next_span(state.starts + before, state.ends + before, count - before, longest, i == 0 ? nullptr : &last,
                       span))
            return;
        add(placed(state, options, span), answers, capacity, state);
    }
}

std::uint32_t finish_answers(const AnswerOptions& options, AnswerSpan* answers, std::uint32_t capacity,
                             QuestionState& state) noexcept {
    if (options.no_answer && capacity != 0) {
        // As the last one: it takes the place of the worst where there is no room.
        if (state.found == capacity) {
            for (std::uint32_t i = worst_of(answers, capacity); i + 1 < capacity; ++i)
                answers[i] = answers[i + 1];
            --state.found;
        }
        answers[state.found++] = {state.no_answer, 0, 0};
    }
    const std::uint32_t top = top_of(options) < state.found ? top_of(options) : state.found;
    for (std::uint32_t place = 0; place < top; ++place) {
        std::uint32_t best = place;
        for (std::uint32_t i = place + 1; i < state.found; ++i) {
            if (answers[i].score > answers[best].score) best = i;
        }
        const AnswerSpan answer = answers[best];
        for (std::uint32_t i = best; i > place; --i)
            answers[i] = answers[i - 1];
        answers[place] = answer;
    }
    return top;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
