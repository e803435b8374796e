// SPDX-License-Identifier: Apache-2.0
// Words by Moses' rules behind a normalization of punctuation, and where they are.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "recorded_words.hpp"
#include "tables.hpp"
#include "tokenizer/segmenters/normalized_moses_segmenter.hpp"

namespace {

using namespace etch;
using recorded::Found;
using recorded::words;

// Letters, spaces, digits and what Moses' rules are about, of ASCII; of others letters, U+00A0 and marks.
template <MosesLanguage kLanguage, bool kEscapes = false>
class NormalizedMoses {
  public:
    using Part = NormalizedMosesSegmenter<kLanguage, kEscapes>;

    explicit NormalizedMoses(bool lowers) : lowers_(lowers), lower_({{'A', "a"}, {0x3A3, "\u03c3"}}) {
        for (std::uint32_t c = 0; c < 128; ++c) {
            const bool has_rules = c == '.' || c == '\'' || c == ',' || c == '-';
            ascii_[c] = (c | 0x20U) - 'a' < 26 ? kLetter : c - '0' < 10 ? kDigit : c == ' ' ? kSpace : kMark;
            if (has_rules) ascii_[c] = kRule;
            if (c < ' ') ascii_[c] = kControl;
        }
    }
    Part part() const {
        const Folding nothing{};
        return {{ascii_, kOthers, 4}, kKinds, kAbbreviations, lowers_ ? lower_.folding() : nothing};
    }

  private:
    enum : std::uint8_t { kLetter, kDigit, kSpace, kMark, kRule, kControl, kIgnored };
    static constexpr std::uint32_t range(std::uint32_t first, std::uint32_t kind) {
        return first << CharacterClasses::kClassBits | kind;
    }
    static constexpr std::uint32_t kOthers[] = {range(0x80, kMark), range(0xA0, kSpace), range(0xA1, kMark),
                                                range(0x370, kLetter)};
    static constexpr std::uint16_t kKinds[] = {
        MosesSegmenter::kAlphanumeric | MosesSegmenter::kLetter | Part::kCased,
        MosesSegmenter::kAlphanumeric | MosesSegmenter::kNumber | Part::kDigit,
        MosesSegmenter::kWhiteSpace,
        MosesSegmenter::kAlone,
        Part::kIgnorable,
        Part::kControl,
    };
    static constexpr std::uint8_t kAbbreviations[] = {0};
    bool lowers_;
    tokenizer_tables::FoldingTables lower_;
    std::uint8_t ascii_[128];
};

TEST(NormalizedMosesSegmenter, PunctuationOfFrench) {
    const NormalizedMoses<MosesLanguage::french> tables(false);
    const auto part = tables.part();
    EXPECT_EQ(words(part, "l'a"), (Found{"l'@0-2", "a@2-3"}));
    EXPECT_EQ(words(part, "a-b"), (Found{"a-b@0-3"}));
    EXPECT_EQ(words(part, "a \u2014b"), (Found{"a@0-1", "-@2-5", "b@5-6"}));
    EXPECT_EQ(words(part, "a\u3002 \u2018b"), (Found{"a@0-1", ".@1-4", "'@5-8", "b@8-9"}));
    EXPECT_EQ(words(part, "\u00ab\u00a0a\u00a0\u00bb"), (Found{"\"@0-2", "a@4-5", "\"@7-9"}));
    EXPECT_EQ(words(part, "1\u00a02\u00a03"), (Found{"1,2@0-4", "3@6-7"}));
    EXPECT_EQ(words(part, "a,\""), (Found{"a@0-1", "\"@1-3", ",@1-3"}));
    EXPECT_EQ(words(part, "a..\" b"), (Found{"a@0-1", "\"@1-4", "..@1-4", "b@5-6"}));
    EXPECT_EQ(words(part, "a..\"<"), (Found{"a@0-1", "..@1-3", "\"@3-4", "<@4-5"}));
    EXPECT_EQ(words(part, "a\nb\x01"), (Found{"ab@0-3"}));
}

TEST(NormalizedMosesSegmenter, Escapes) {
    const NormalizedMoses<MosesLanguage::english, true> english(false);
    EXPECT_EQ(words(english.part(), "a-b"), (Found{"a@0-1", "@-@@1-2", "b@2-3"}));
    EXPECT_EQ(words(english.part(), "a's \"A\"."),
              (Found{"a@0-1", "&apos;s@1-3", "&quot;@4-5", "A@5-6", ".@6-8", "&quot;@6-8"}));
    const NormalizedMoses<MosesLanguage::german, true> german(true);
    EXPECT_EQ(words(german.part(), "A's \u2013"), (Found{"a@0-1", "&apos;@1-2", "s@2-3", "-@4-7"}));
    EXPECT_EQ(words(german.part(), "1\u00a02 a,\""), (Found{"1,2@0-4", "a@5-6", "&quot;@6-8", ",@6-8"}));
    const NormalizedMoses<MosesLanguage::russian, true> russian(false);
    EXPECT_EQ(words(russian.part(), "1\u00a02 a,\""), (Found{"1.2@0-4", "a@5-6", ",@6-7", "&quot;@7-8"}));
    EXPECT_EQ(words(russian.part(), "'\u0401-a"), (Found{"&apos;@0-1", "\u0401@1-3", "@-@@3-4", "a@4-5"}));
}

TEST(NormalizedMosesSegmenter, PunctuationOfEnglish) {
    const NormalizedMoses<MosesLanguage::english> tables(false);
    const auto part = tables.part();
    EXPECT_EQ(words(part, "l'a"), (Found{"l@0-1", "'a@1-3"}));
    EXPECT_EQ(words(part, "1\u00a02"), (Found{"1.2@0-4"}));
    EXPECT_EQ(words(part, "''a\",. b"), (Found{"\"@0-2", "a@2-3", ",@3-5", ".@3-6", "\"@3-6", "b@7-8"}));
}

TEST(NormalizedMosesSegmenter, TheSigmaThatEndsAWord) {
    const NormalizedMoses<MosesLanguage::english> tables(true);
    const auto part = tables.part();
    EXPECT_EQ(words(part, "\u03a3A\u03a3"), (Found{"\u03c3a\u03c2@0-5"}));
    EXPECT_EQ(words(part, "A\u03a3-A"), (Found{"a\u03c3-a@0-5"}));
    EXPECT_EQ(words(part, "A\u03a3- A"), (Found{"a\u03c2-@0-4", "a@5-6"}));
    const Found cased = words(part, "A\u03a3----------------A");
    const Found longer = words(part, "A\u03a3-----------------A");
    ASSERT_FALSE(cased.empty() || longer.empty());
    EXPECT_EQ(cased[0].substr(0, 4), "a\u03c3-");
    EXPECT_EQ(longer[0].substr(0, 4), "a\u03c2-") << "more is not waited for";
}

}  // namespace
