// SPDX-License-Identifier: Apache-2.0
// Segmenters over a model that only writes down the words it is given.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "calls.hpp"
#include "tokenizer/split_segmenter.hpp"
#include "tokenizer/utf8.hpp"
#include "tokenizer/word_segmenter.hpp"
#include "tokenizer/wordpiece.hpp"

namespace recorded {

// A model without pieces.
struct Model {};

}  // namespace recorded

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Each word as `text@begin-end`.
template <>
class Words<recorded::Model> {
  public:
    bool empty() const noexcept { return word_.empty(); }
    bool one_more_is_certain() const noexcept { return false; }
    void append(const Unit& unit) noexcept {
        std::uint8_t bytes[kMaxUtf8Bytes];
        const std::uint32_t size = encode(unit.scalar, bytes);
        if (word_.empty()) begin_ = unit.begin;
        word_.append(bytes, bytes + size);
        end_ = unit.end;
    }
    void end() noexcept {
        if (word_.empty()) return;
        found.push_back(word_ + "@" + std::to_string(begin_) + "-" + std::to_string(end_));
        word_.clear();
    }

    std::vector<std::string> found;

  private:
    std::string word_;
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

namespace {

using namespace etch;
using namespace etch::tokenizer;
using Found = std::vector<std::string>;
using Recorder = Words<recorded::Model>;

template <class Part>
void read(Segmenter<Part, recorded::Model>& segmenter, std::string_view text) {
    for (std::uint32_t at = 0; at < text.size();) {
        const Decoded decoded = decode(text, at);
        segmenter.take({decoded.scalar, at, at + decoded.size, 0});
        at += decoded.size;
    }
    segmenter.end();
}

template <class Part>
Found words(const Part& part, std::string_view text) {
    Recorder recorder;
    Segmenter<Part, recorded::Model> segmenter(part, recorder);
    read(segmenter, text);
    return recorder.found;
}

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
    CharacterClasses classes() const { return {ascii_, kRanges, kParted, sizeof kRanges / sizeof *kRanges, kLetter}; }

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
    for (const auto& one : kCases)
        EXPECT_EQ(class_of(classes, one.scalar), one.one) << one.scalar;
    constexpr std::uint32_t kOne[] = {0x80U << CharacterClasses::kClassBits | kLetter};
    const CharacterClasses single{classes.ascii_classes, kOne, classes.parted, 1, kLetter};
    EXPECT_EQ(class_of(single, 0x80), kLetter);
    EXPECT_EQ(class_of(single, 0x10FFFF), kLetter);
}

TEST(SplitSegmenter, PartsBetweenClasses) {
    const Classes tables;
    const SplitSegmenter<WordSegmenter> part{tables.classes(), {false, false}};
    EXPECT_EQ(words(part, ""), Found());
    EXPECT_EQ(words(part, "   "), Found());
    EXPECT_EQ(words(part, "ab cd"), (Found{"ab@0-2", "cd@3-5"}));
    EXPECT_EQ(words(part, "ab12.c"), (Found{"ab@0-2", "12.@2-5", "c@5-6"}));
    EXPECT_EQ(words(part, "..1!!"), (Found{"..@0-2", "1@2-3", "!@3-4", "!@4-5"}));
    EXPECT_EQ(words(part, "\u00e9\u00a0\u4e2d\u4e2da"), (Found{"\u00e9@0-2", "\u4e2d@4-7", "\u4e2d@7-10", "a@10-11"}));
}

TEST(SplitSegmenter, APartBeginsBehindWhatIsDroppedAndBehindAnEnd) {
    const Classes tables;
    const SplitSegmenter<WordSegmenter> part{tables.classes(), {true, false}};
    EXPECT_EQ(words(part, "1 a"), (Found{" 1@0-1", " a@2-3"}));
    Recorder recorder;
    Segmenter<SplitSegmenter<WordSegmenter>, recorded::Model> segmenter(part, recorder);
    read(segmenter, "1");
    read(segmenter, "a");
    EXPECT_EQ(recorder.found, (Found{" 1@0-1", " a@0-1"}));
}

}  // namespace
