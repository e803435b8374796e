// SPDX-License-Identifier: Apache-2.0
// Any marks and probabilities, NaN and infinities among them: spans lie in the text, one behind the other, as many as
// are counted, and none is written past the capacity.
#include "etch/decode/tags.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

#include "fuzz.hpp"

using namespace etch;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    constexpr TagLabel kLabels[] = {{0, 0, false, true, true},
                                    {1, 1, true, false, false},
                                    {1, 1, false, false, false},
                                    {2, 2, false, false, false}};
    constexpr std::uint32_t kWidth = 4;
    constexpr std::size_t kTokenBytes = 1 + kWidth * sizeof(float);
    if (size < 1) return 0;
    const std::uint32_t capacity = data[0];
    const auto count = static_cast<std::uint32_t>((size - 1) / kTokenBytes);
    std::vector<TokenOffset> offsets;
    std::vector<TokenMark> marks;
    std::vector<float> rows(std::size_t{count} * kWidth);
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint8_t* token = data + 1 + i * kTokenBytes;
        offsets.push_back({i, i + 1});
        marks.push_back(static_cast<TokenMark>(token[0] % 3));
        std::memcpy(rows.data() + std::size_t{i} * kWidth, token + 1, kWidth * sizeof(float));
    }
    const TaggedTokens tokens{offsets.data(), marks.data(), {rows.data(), kWidth}, count};
    for (int aggregation = 0; aggregation < 5; ++aggregation) {
        std::vector<TagSpan> spans(capacity);  // exactly: the sanitizer sees a write behind it
        const std::uint32_t found =
            find_tags(kLabels, tokens, static_cast<Aggregation>(aggregation), spans.data(), capacity);
        fuzz::check(found <= count, "more spans than tokens");
        std::uint32_t end = 0;
        for (std::uint32_t i = 0; i < found && i < capacity; ++i) {
            fuzz::check(spans[i].begin >= end && spans[i].begin < spans[i].end && spans[i].end <= count,
                        "spans overlap");
            fuzz::check(spans[i].label < kWidth, "a label that is none");
            end = spans[i].end;
        }
    }
    return 0;
}
