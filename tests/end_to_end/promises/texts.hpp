// SPDX-License-Identifier: Apache-2.0
// What the programs of this folder classify.
#pragma once

#include <string_view>

namespace promises {

inline constexpr std::string_view kShortTexts[] = {
    "Oil prices climb again",
    "",
    "Champions beaten at home",
    "a",
    "New telescope sees the oldest galaxy so far",
    "Caf\303\251 na\303\257ve \346\235\261\344\272\254 \360\237\216\211",
    "[SEP] [MASK] typed",
    "\377\376 not UTF-8 \300",
};

// More tokens than any model of the tests takes, in 4 KB: plain words, accents to normalize, combining marks, CJK.
struct LongText {
    static constexpr std::string_view kPart =
        "Researchers built a small computer, \303\251t\303\251 e\314\201\314\243\314\200 \346\235\261\344\272\254 won "
        "3:2! ";
    char bytes[4096];
    constexpr LongText() : bytes() {
        for (std::size_t i = 0; i < sizeof bytes; ++i)
            bytes[i] = kPart[i % kPart.size()];
    }
    constexpr std::string_view view() const { return {bytes, sizeof bytes}; }
};
inline constexpr LongText kLongText;

// More than one block of a panel, still quick under a sanitizer.
inline constexpr std::string_view kMiddleText = kLongText.view().substr(0, 150);

}  // namespace promises
