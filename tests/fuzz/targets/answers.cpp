// SPDX-License-Identifier: Apache-2.0
// Any probabilities, NaN and infinities among them, offsets in order, windows one after the other: answers lie in the
// context, the best first and none twice, as many as are asked for at most, and none is written past the capacity.
#include "etch/decode/answers.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz.hpp"

using namespace etch;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr std::size_t kTokenBytes = 2 + 2 * sizeof(float);
    constexpr std::uint32_t kMost = 64;  // tokens of a window
    if (size < 6) return 0;
    const std::uint32_t before = 1 - data[0] % 2;  // with a row that stands for "no answer", or without
    const std::uint32_t capacity = data[1] % 40;
    const AnswerOptions options{data[2] % 8U, 0, 0, data[3] % 20U, (data[4] & 1) != 0, (data[4] & 2) != 0};
    const bool of_ids = (data[4] & 4) != 0;
    const std::uint8_t* token = data + 6;
    const std::uint8_t* const end = data + size;

    // A context of letters of either case and of bytes that are no UTF-8.
    std::string letters;
    for (const std::uint8_t* byte = data; byte != end; ++byte)
        letters += (*byte & 3) == 0 ? static_cast<char>(*byte) : static_cast<char>((*byte & 1 ? 'a' : 'A') + *byte % 3);
    const fuzz::ExactText context(letters);

    std::vector<AnswerSpan> answers(capacity);  // exactly: the sanitizer sees a write behind it
    QuestionState state{};
    if (!of_ids) state.context = context.view();
    std::uint32_t place = 0;
    while (end - token >= static_cast<std::ptrdiff_t>(kTokenBytes)) {
        const auto left = static_cast<std::size_t>(end - token) / kTokenBytes;
        const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(left, 1 + data[5] % kMost));
        std::vector<TokenOffset> offsets;
        std::vector<std::uint8_t> begins;
        std::vector<float> starts(before + count);
        std::vector<float> ends(before + count);
        for (std::uint32_t i = 0; i < count; ++i, token += kTokenBytes) {
            const auto bytes = static_cast<std::uint32_t>(letters.size());
            const std::uint32_t from = of_ids ? i : std::min(place, bytes);
            place = from + token[0] % 5;
            offsets.push_back({from, of_ids ? i + 1 : std::min(place, bytes)});
            begins.push_back(token[1] % 2);
            std::memcpy(&starts[before + i], token + 2, sizeof(float));
            std::memcpy(&ends[before + i], token + 2 + sizeof(float), sizeof(float));
        }
        if (before != 0) starts[0] = starts[1], ends[0] = ends[1];
        place = place < 8 ? 0 : place - 8;  // windows overlap
        state.stream.offsets = offsets.data();
        state.stream.begins = begins.data();
        state.starts = starts.data();
        state.ends = ends.data();
        state.count = count;
        ++state.windows;
        add_answers(options, before + count, answers.data(), capacity, state);
        fuzz::check(state.found <= capacity, "more answers than there is room for");
    }
    const std::uint32_t found = finish_answers(options, answers.data(), capacity, state);
    fuzz::check(found <= std::max(options.top, 1U) && found <= capacity, "more answers than were asked for");
    const std::size_t last = of_ids ? kMost : letters.size();
    for (std::uint32_t i = 0; i < found; ++i) {
        const AnswerSpan& answer = answers[i];
        fuzz::check(answer.begin <= answer.end && answer.end <= last, "an answer outside of the context");
        fuzz::check(i == 0 || !(answer.score > answers[i - 1].score), "not the best first");
    }
    return 0;
}
