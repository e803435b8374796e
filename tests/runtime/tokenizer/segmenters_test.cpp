// SPDX-License-Identifier: Apache-2.0
// Segmenters over a model that only writes down the words it is given.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "recorded_words.hpp"
#include "tokenizer/models/wordpiece.hpp"
#include "tokenizer/segmenters/expression_segmenter.hpp"
#include "tokenizer/segmenters/moses_segmenter.hpp"
#include "tokenizer/segmenters/split_segmenter.hpp"
#include "tokenizer/segmenters/word_segmenter.hpp"
#include "tokenizer/unicode/utf8.hpp"

namespace {

using namespace etch;
using namespace etch::tokenizer;
using recorded::Found;
using recorded::read;
using recorded::Recorder;
using recorded::words;

TEST(WordSegmenter, AWordIsWhatComesBetweenTwoEnds) {
    EXPECT_EQ(words(WordSegmenter{false, false}, ""), Found());
    EXPECT_EQ(words(WordSegmenter{false, false}, "a b \u00e9"), (Found{"a b \u00e9@0-6"}));
}

TEST(WordSegmenter, ASpaceBeforeWhatBeginsWithNone) {
    constexpr WordSegmenter kPart{true, false};
    EXPECT_EQ(words(kPart, ""), Found());
    EXPECT_EQ(words(kPart, "\u00e9b"), (Found{" \u00e9b@0-3"}));
    EXPECT_EQ(words(kPart, " a b"), (Found{" a b@0-4"}));
    Recorder recorder;
    Segmenter<WordSegmenter, recorded::Model> segmenter(kPart, recorder);
    read(segmenter, "a");
    read(segmenter, "");
    read(segmenter, "b");
    EXPECT_EQ(recorder.found, (Found{" a@0-1", " b@0-1"}));
}

TEST(WordSegmenter, WholeWordsAreNotTakenApart) {
    const WordPiece& model = test_vocabulary::kUncased.model;
    for (const bool whole : {false, true}) {
        std::vector<std::uint64_t> scratch(etch::tokenizer_scratch_bytes(test_vocabulary::kUncased) / 8 + 1);
        std::int32_t ids[8] = {};
        TokenWriter out{ids, nullptr, 8};
        Words<WordPiece> pieces(model, SpecialTokens::recognized, scratch.data(), out);
        const WordSegmenter part{false, whole};
        Segmenter<WordSegmenter, WordPiece> segmenter(part, pieces);
        for (std::uint32_t i = 0; i < 8; ++i)
            segmenter.take({'a', i, i + 1, 0});
        segmenter.end();
        EXPECT_EQ(out.count, whole ? 1U : 2U);
        EXPECT_EQ(ids[0] == model.unknown_id, whole);
    }
}

// Letters, digits, marks, and what stands alone; white space is dropped.
enum : std::uint32_t { kDropped, kLetter, kDigit, kMark, kAlone };

constexpr std::uint32_t range(std::uint32_t first, std::uint32_t one) {
    return first << CharacterClasses::kClassBits | one;
}
constexpr std::uint32_t bit(std::uint32_t one) {
    return 1U << one;
}

class Classes {
  public:
    Classes() {
        for (std::uint8_t& one : ascii_)
            one = kMark;
        for (std::uint32_t scalar = 'a'; scalar <= 'z'; ++scalar)
            ascii_[scalar] = kLetter;
        for (std::uint32_t scalar = '0'; scalar <= '9'; ++scalar)
            ascii_[scalar] = kDigit;
        ascii_[' '] = kDropped;
        ascii_['!'] = kAlone;
    }
    CharacterClasses classes() const { return {ascii_, kRanges, sizeof kRanges / sizeof *kRanges}; }
    SplitSegmenter<WordSegmenter> part(WordSegmenter inner) const { return {classes(), kParted, kLetter, inner}; }

  private:
    static constexpr std::uint32_t kRanges[] = {
        range(0x80, kMark),    range(0xA0, kDropped),  range(0xA1, kMark),    range(0xC0, kLetter),
        range(0x4E00, kAlone), range(0xA000, kLetter), range(0x1F600, kMark),
    };
    // By the second one's class: which first ones it is parted from. Nothing is parted from what begins a part.
    static constexpr std::uint32_t kParted[] = {
        0,
        bit(kDigit) | bit(kMark) | bit(kAlone),
        bit(kLetter) | bit(kMark) | bit(kAlone),
        bit(kLetter) | bit(kAlone),  // a mark stays behind a digit
        bit(kLetter) | bit(kDigit) | bit(kMark) | bit(kAlone),
    };
    std::uint8_t ascii_[128];
};

TEST(SplitSegmenter, TheClassOfACharacter) {
    const Classes tables;
    const CharacterClasses classes = tables.classes();
    constexpr struct {
        std::uint32_t scalar, one;
    } kCases[] = {
        {0x00, kMark},      {' ', kDropped},  {'0', kDigit},     {'9', kDigit},    {'a', kLetter},   {'z', kLetter},
        {'!', kAlone},      {0x7F, kMark},    {0x80, kMark},     {0x9F, kMark},    {0xA0, kDropped}, {0xA1, kMark},
        {0xBF, kMark},      {0xC0, kLetter},  {0x4DFF, kLetter}, {0x4E00, kAlone}, {0x9FFF, kAlone}, {0xA000, kLetter},
        {0x1F5FF, kLetter}, {0x1F600, kMark}, {0x10FFFF, kMark},
    };
    CharacterClassifier classifier(classes);
    for (const auto& one : kCases) {
        EXPECT_EQ(CharacterClassifier(classes).class_of(one.scalar), one.one) << one.scalar;
        for (const auto& before : kCases) {
            classifier.class_of(before.scalar);
            EXPECT_EQ(classifier.class_of(one.scalar), one.one) << one.scalar << " behind " << before.scalar;
        }
    }
    constexpr std::uint32_t kOne[] = {0x80U << CharacterClasses::kClassBits | kLetter};
    const CharacterClasses single{classes.ascii_classes, kOne, 1};
    EXPECT_EQ(CharacterClassifier(single).class_of(0x80), kLetter);
    EXPECT_EQ(CharacterClassifier(single).class_of(0x10FFFF), kLetter);
}

TEST(SplitSegmenter, PartsBetweenClasses) {
    const Classes tables;
    const SplitSegmenter<WordSegmenter> part = tables.part({false, false});
    EXPECT_EQ(words(part, ""), Found());
    EXPECT_EQ(words(part, "   "), Found());
    EXPECT_EQ(words(part, "ab cd"), (Found{"ab@0-2", "cd@3-5"}));
    EXPECT_EQ(words(part, "ab12.c"), (Found{"ab@0-2", "12.@2-5", "c@5-6"}));
    EXPECT_EQ(words(part, "..1!!"), (Found{"..@0-2", "1@2-3", "!@3-4", "!@4-5"}));
    EXPECT_EQ(words(part, "\u00e9\u00a0\u4e2d\u4e2da"), (Found{"\u00e9@0-2", "\u4e2d@4-7", "\u4e2d@7-10", "a@10-11"}));
}

TEST(SplitSegmenter, APartBeginsBehindWhatIsDroppedAndBehindAnEnd) {
    const Classes tables;
    const SplitSegmenter<WordSegmenter> part = tables.part({true, false});
    EXPECT_EQ(words(part, "1 a"), (Found{" 1@0-1", " a@2-3"}));
    Recorder recorder;
    Segmenter<SplitSegmenter<WordSegmenter>, recorded::Model> segmenter(part, recorder);
    read(segmenter, "1");
    read(segmenter, "a");
    EXPECT_EQ(recorder.found, (Found{" 1@0-1", " a@0-1"}));
}

// ab*c|a; maybe of what is left where the text is parted behind numbers, and white space is dropped.
class Expression {
  public:
    Expression() {
        for (std::uint8_t& one : ascii_)
            one = kOther;
        ascii_['a'] = 1;
        ascii_['b'] = 2;
        ascii_['c'] = 3;
        ascii_['1'] = ascii_['2'] = kNumber;
        ascii_[' '] = kSpace;
    }
    ExpressionSegmenter whole() const { return {{ascii_, kOthers, 1}, nullptr, kWords, kClasses}; }
    ExpressionSegmenter parted() const { return {{ascii_, kOthers, 1}, kFront, kWords, kClasses}; }

  private:
    enum : std::uint8_t { kOther = 4, kNumber = 5, kSpace = 6 };
    static constexpr std::uint32_t kClasses = 7;
    static constexpr std::uint16_t F = ExpressionSegmenter::kFound;
    static constexpr std::uint16_t P = ExpressionSegmenter::kParted;
    static constexpr std::uint16_t D = ExpressionSegmenter::kDropped;
    static constexpr std::uint32_t kOthers[] = {range(0x80, kOther)};
    static constexpr std::uint16_t kWords[] = {
        0, 0, 0,     0,     0, 0, 0,  // no longer word
        0, 2, 0,     0,     0, 0, 0,  // at its beginning
        F, F, F | 3, F | 4, F, F, F,  // behind a
        0, 0, 3,     4,     0, 0, 0,  // behind b
        F, F, F,     F,     F, F, F,  // behind c
    };
    static constexpr std::uint16_t kFront[] = {
        0, 0, 0, 0, 0, 1,     P | D,  // behind anything but a number
        0, P, P, P, P, P | 1, P | D,  // behind a number
    };
    std::uint8_t ascii_[128];
};

TEST(ExpressionSegmenter, WhatWasReadBehindTheLongestWordIsReadAgain) {
    const Expression tables;
    const ExpressionSegmenter part = tables.whole();
    EXPECT_EQ(words(part, ""), Found());
    EXPECT_EQ(words(part, "abbc"), (Found{"abbc@0-4"}));
    EXPECT_EQ(words(part, "aabca"), (Found{"a@0-1", "abc@1-4", "a@4-5"}));
    EXPECT_EQ(words(part, "abba"), (Found{"a@0-1", "bb@1-3", "a@3-4"}));
    EXPECT_EQ(words(part, "abb"), (Found{"a@0-1", "bb@1-3"}));
    EXPECT_EQ(words(part, "xbaby"), (Found{"xb@0-2", "a@2-3", "by@3-5"}));
    EXPECT_EQ(words(part, "x\u00e9"), (Found{"x\u00e9@0-3"}));
}

TEST(ExpressionSegmenter, PartsAreAsTextsOfTheirOwn) {
    const Expression tables;
    const ExpressionSegmenter part = tables.parted();
    EXPECT_EQ(words(part, "ab1c"), (Found{"a@0-1", "b1@1-3", "c@3-4"}));
    EXPECT_EQ(words(part, "1abc"), (Found{"1@0-1", "abc@1-4"}));
    EXPECT_EQ(words(part, "ab c"), (Found{"a@0-1", "b@1-2", "c@3-4"}));
    EXPECT_EQ(words(part, "  "), Found());
    EXPECT_EQ(words(part, "12 a"), (Found{"1@0-1", "2@1-2", "a@3-4"}));
}

TEST(ExpressionSegmenter, AWordThatIsTooLongIsCut) {
    const Expression tables;
    EXPECT_EQ(words(tables.whole(), "abbbbbbbbbbbbba"), (Found{"abbbbbbbbbbb@0-12", "bb@12-14", "a@14-15"}));
}

// Kinds of ASCII as `sacremoses` has them; all else is alone.
class Moses {
  public:
    Moses() {
        for (std::uint32_t c = 0; c < 128; ++c) {
            const bool is_letter = (c | 0x20U) - 'a' < 26;
            const bool is_digit = c - '0' < 10;
            const bool is_space = c == ' ' || c - '\t' < 5 || c - 0x1C < 4;
            const bool has_rules = c == '.' || c == '\'' || c == '`' || c == ',' || c == '-';
            std::uint32_t kinds = MosesSegmenter::kAlone;
            if (is_letter) kinds = MosesSegmenter::kAlphanumeric | MosesSegmenter::kLetter;
            if (is_letter && c >= 'a') kinds |= MosesSegmenter::kLowercase;
            if (c == 's') kinds |= MosesSegmenter::kPossessive;
            if (is_digit) kinds = MosesSegmenter::kAlphanumeric | MosesSegmenter::kNumber;
            if (is_space) kinds = MosesSegmenter::kWhiteSpace;
            if (has_rules) kinds = 0;
            ascii_[c] = static_cast<std::uint8_t>(kinds);
        }
    }
    MosesSegmenter part() const { return {{ascii_, kOthers, 1}, kAbbreviations}; }

  private:
    static constexpr std::uint32_t kOthers[] = {0x80U << CharacterClasses::kClassBits | MosesSegmenter::kAlone};
    static constexpr std::uint8_t kAbbreviations[] = {
        MosesSegmenter::kAnywhere, 'D', 'r', 0, MosesSegmenter::kBeforeNumber, 'N', 'o', 0, 0};
    std::uint8_t ascii_[128];
};

TEST(MosesSegmenter, EachRule) {
    const Moses tables;
    const MosesSegmenter part = tables.part();
    EXPECT_EQ(words(part, ""), Found());
    EXPECT_EQ(words(part, " \t\x01 "), Found());
    EXPECT_EQ(words(part, "a\x01 b"), (Found{"a@0-1", "b@3-4"}));
    EXPECT_EQ(words(part, "a!b"), (Found{"a@0-1", "!@1-2", "b@2-3"}));
    EXPECT_EQ(words(part, " 'a"), (Found{"&apos;a@1-3"}));
    EXPECT_EQ(words(part, "b 'a"), (Found{"b@0-1", "&apos;@2-3", "a@3-4"}));
    EXPECT_EQ(words(part, "a-b-c"), (Found{"a@0-1", "@-@@1-2", "b@2-3", "@-@@3-4", "c@4-5"}));
    EXPECT_EQ(words(part, "a-b-"), (Found{"a@0-1", "@-@@1-2", "b-@2-4"}));
    EXPECT_EQ(words(part, "a,b 1,2 3,"), (Found{"a@0-1", ",@1-2", "b@2-3", "1,2@4-7", "3@8-9", ",@9-10"}));
    EXPECT_EQ(words(part, "a's"), (Found{"a@0-1", "&apos;s@1-3"}));
    EXPECT_EQ(words(part, "5's"), (Found{"5@0-1", "&apos;s@1-3"}));
    EXPECT_EQ(words(part, "5'S"), (Found{"5&apos;S@0-3"}));
    EXPECT_EQ(words(part, "a..b"), (Found{"a@0-1", "..@1-3", "b@3-4"}));
    EXPECT_EQ(words(part, "a.'"), (Found{"a@0-1", ".@1-2", "&apos;@2-3"}));
    EXPECT_EQ(words(part, "[&\u00e9"), (Found{"&#91;@0-1", "&amp;@1-2", "\u00e9@2-4"}));
}

TEST(MosesSegmenter, APeriodThatEndsAWord) {
    const Moses tables;
    const MosesSegmenter part = tables.part();
    EXPECT_EQ(words(part, "A."), (Found{"A@0-1", ".@1-2"}));
    EXPECT_EQ(words(part, "."), (Found{".@0-1"}));
    EXPECT_EQ(words(part, "Dr. A."), (Found{"Dr.@0-3", "A@4-5", ".@5-6"}));
    EXPECT_EQ(words(part, "No. 5"), (Found{"No.@0-3", "5@4-5"}));
    EXPECT_EQ(words(part, "No. A"), (Found{"No@0-2", ".@2-3", "A@4-5"}));
    EXPECT_EQ(words(part, "No."), (Found{"No@0-2", ".@2-3"}));
    EXPECT_EQ(words(part, "A. b"), (Found{"A.@0-2", "b@3-4"}));
    EXPECT_EQ(words(part, "U.S. B"), (Found{"U.S.@0-4", "B@5-6"}));
    EXPECT_EQ(words(part, "1.2. B"), (Found{"1.2@0-3", ".@3-4", "B@5-6"}));
}

TEST(MosesSegmenter, WhatTheReferenceWritesForRunsIsOne) {
    const Moses tables;
    const MosesSegmenter part = tables.part();
    EXPECT_EQ(words(part, "DOTMULTI"), (Found{".@0-8"}));
    EXPECT_EQ(words(part, "aDODOTDOTMULTIb"), (Found{"aDO..b@0-15"}));
    EXPECT_EQ(words(part, "DOTDOMULTI"), (Found{"DOTDOMULTI@0-10"}));
    EXPECT_EQ(words(part, "DOTM DOT"), (Found{"DOTM@0-4", "DOT@5-8"}));
}

}  // namespace
