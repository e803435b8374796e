// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/answers.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr std::uint32_t kUsualWindow = 384;
constexpr std::uint32_t kUsualStride = 128;

constexpr std::uint32_t least(std::uint32_t a, std::uint32_t b) noexcept {
    return a < b ? a : b;
}

bool is_special(const Template& parts, std::int32_t id) noexcept {
    for (std::uint32_t i = 0; i < parts.pair_count; ++i) {
        if (parts.pair[i].id == id) return true;
    }
    return false;
}

}  // namespace

std::uint32_t window_tokens(const AnswerOptions& options, const Template& parts, std::uint32_t max_tokens) noexcept {
    const std::uint32_t wanted = least(options.window == 0 ? kUsualWindow : options.window, max_tokens);
    const std::uint32_t fewest = specials_of_pair(parts) + 2;
    return wanted < fewest ? fewest : wanted;
}

std::uint32_t shared_tokens(const AnswerOptions& options, std::uint32_t window, std::uint32_t room) noexcept {
    return least(options.stride == 0 ? least(window / 2, kUsualStride) : options.stride, room - 1);
}

void plan_windows(const AnswerOptions& options, const Template& parts, std::uint32_t max_tokens,
                  QuestionState& state) noexcept {
    const std::uint32_t window = window_tokens(options, parts, max_tokens);
    const std::uint32_t most = window - specials_of_pair(parts);
    const std::uint32_t shared = shared_tokens(options, window, most);
    const bool several = state.cut || state.stream.more || state.stream.count > most - state.question_count;
    if (several && state.question_count >= most - shared) {
        state.question_count = most - shared - 1;
        state.cut = true;
    }
    state.room = most - state.question_count;
    state.advance = several ? state.room - shared : state.room;
}

TextRows write_window(const Template& parts, QuestionState& state, const WindowSink& sink) noexcept {
    state.count = least(state.stream.count, state.room);
    std::uint32_t at = 0;
    const auto write = [&](const std::int32_t* ids, std::uint32_t count, std::uint8_t segment) noexcept {
        for (std::uint32_t i = 0; i < count; ++i, ++at) {
            sink.ids[at] = ids[i];
            sink.segments[at] = segment;
        }
    };
    for (std::uint32_t i = 0; i < parts.pair_count; ++i) {
        const TemplatePart& part = parts.pair[i];
        if (part.id == TemplatePart::kFirst) {
            write(state.question_ids, state.question_count, part.segment);
        } else if (part.id == TemplatePart::kSecond) {
            state.first = at;
            write(state.stream.ids, state.count, part.segment);
        } else {
            write(&part.id, 1, part.segment);
        }
    }
    ++state.windows;
    state.tokens += at;
    return whole_text(at);
}

void trim_first(const WordPiece&, QuestionState&) noexcept {}
void trim_first(const CharacterBpe&, QuestionState&) noexcept {}
void trim_first(const Unigram&, QuestionState&) noexcept {}
void trim_first(const Bytes&, QuestionState&) noexcept {}
void trim_first(const CodePoints&, QuestionState&) noexcept {}

void trim_first(const ByteLevelBpe& model, QuestionState& state) noexcept {
    TokenOffset& offset = state.stream.offsets[0];
    const bool begins = state.stream.count != 0 && state.stream.begins[0] != 0 && offset.begin != 0;
    if (model.trim_offsets && model.keep_first_space && begins && state.context[offset.begin - 1] == ' ') {
        --offset.begin;
    }
}

void window_of_ids(const Template& parts, const std::int32_t* ids, std::uint32_t count, QuestionState& state) noexcept {
    std::uint32_t end = count;
    if (end != 0 && is_special(parts, ids[end - 1])) --end;
    std::uint32_t begin = end;
    while (begin != 0 && !is_special(parts, ids[begin - 1]))
        --begin;
    state.first = begin;
    state.count = end - begin;
    state.windows = 1;
    state.tokens = count;
    for (std::uint32_t i = 0; i < state.count; ++i) {
        state.stream.offsets[i] = {begin + i, begin + i + 1};
        state.stream.begins[i] = 1;
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
