// SPDX-License-Identifier: Apache-2.0
// Normalizers of several steps: each step by itself, and all in their order. Of each character that comes out the bytes
// of the text that it stands for.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tables.hpp"
#include "tokenizer/normalizers/form_charsmap_normalizer.hpp"
#include "tokenizer/normalizers/sequence_normalizer.hpp"
#include "tokenizer/unicode/utf8.hpp"

namespace {

using namespace etch;
using namespace etch::tokenizer;
using tokenizer_tables::FoldingTables;
using tokenizer_tables::FormTables;

constexpr std::uint8_t kNoBytes[] = {0};
constexpr std::uint32_t kNoBegins[] = {0};
constexpr std::int32_t kNoIds[] = {0};
constexpr std::uint32_t kNoFirstBytes[8] = {};
constexpr AddedTokens kNoTokens{kNoBytes, kNoBegins, kNoIds, kNoBytes, kNoFirstBytes, 0};
constexpr std::uint8_t kNothingPlain[128] = {};
constexpr RunRule kSpacesToOne{RunRule::kWhiteSpace, 1, '_'};

// `text@begin-end` of each character.
template <class Normalizer>
std::vector<std::string> normalized(const Normalizer& normalizer, std::string_view text) {
    RawSplitter splitter(kNoTokens, text, SpecialTokens::recognized);
    Cursor<Normalizer> cursor(normalizer, text, splitter);
    std::vector<std::string> found;
    Unit unit;
    while (cursor.next(unit)) {
        std::uint8_t bytes[kMaxUtf8Bytes];
        const std::uint32_t size = encode(unit.scalar, bytes);
        EXPECT_EQ(unit.flags, properties(unit.scalar).flags) << unit.scalar;
        found.push_back(std::string(bytes, bytes + size) + "@" + std::to_string(unit.begin) + "-" +
                        std::to_string(unit.end));
    }
    return found;
}

using Units = std::vector<std::string>;

SequenceNormalizer steps() {
    SequenceNormalizer nothing{};
    nothing.plain = kNothingPlain;
    return nothing;
}

TEST(SequenceNormalizer, WithoutStepsAllStays) {
    EXPECT_EQ(normalized(steps(), ""), Units());
    EXPECT_EQ(normalized(steps(), " a\u00e9 "), (Units{" @0-1", "a@1-2", "\u00e9@2-4", " @4-5"}));
}

TEST(SequenceNormalizer, EndsOfATextAreStripped) {
    for (StripRule SequenceNormalizer::*rule :
         {&SequenceNormalizer::first_strip, &SequenceNormalizer::second_strip, &SequenceNormalizer::last_strip}) {
        SequenceNormalizer left = steps();
        left.*rule = {true, false};
        EXPECT_EQ(normalized(left, " \u00a0a b "), (Units{"a@3-4", " @4-5", "b@5-6", " @6-7"}));
        SequenceNormalizer right = steps();
        right.*rule = {false, true};
        EXPECT_EQ(normalized(right, " a  b  \t"), (Units{" @0-1", "a@1-2", " @2-3", " @3-4", "b@4-5"}));
        SequenceNormalizer both = steps();
        both.*rule = {true, true};
        EXPECT_EQ(normalized(both, " \t "), Units());
        EXPECT_EQ(normalized(both, "a"), (Units{"a@0-1"}));
    }
}

TEST(SequenceNormalizer, RunsBecomeOneCharacterWithThePlaceOfTheLast) {
    for (RunRule SequenceNormalizer::*rule : {&SequenceNormalizer::first_run, &SequenceNormalizer::second_run}) {
        SequenceNormalizer spaces = steps();
        spaces.*rule = kSpacesToOne;
        EXPECT_EQ(normalized(spaces, "a \t b "), (Units{"a@0-1", "_@3-4", "b@4-5", "_@5-6"}));
        SequenceNormalizer two = steps();
        two.*rule = {'x', 2, 'y'};
        EXPECT_EQ(normalized(two, "xaxxxbxx"), (Units{"x@0-1", "a@1-2", "y@4-5", "b@5-6", "y@7-8"}));
        SequenceNormalizer gone = steps();
        gone.*rule = {'x', 1, 0};
        EXPECT_EQ(normalized(gone, "xaxxbx"), (Units{"a@1-2", "b@4-5"}));
    }
}

TEST(SequenceNormalizer, CharactersBecomeTexts) {
    const FoldingTables tables({{'a', "bc"}, {U'\u00e9', "e"}, {'z', ""}});
    for (Folding SequenceNormalizer::*rule : {&SequenceNormalizer::first_folding, &SequenceNormalizer::second_folding,
                                              &SequenceNormalizer::third_folding, &SequenceNormalizer::last_folding}) {
        SequenceNormalizer folded = steps();
        folded.*rule = tables.folding();
        EXPECT_EQ(normalized(folded, "zaxz\u00e9"), (Units{"b@1-2", "c@1-2", "x@2-3", "e@4-6"}));
    }
}

TEST(SequenceNormalizer, AFormHasMarksInTheirOrder) {
    const FormTables tables({{U'\u0301', 30, ""}, {U'\u0316', 20, ""}, {U'\u00e9', 0, "e\u0301"}});
    SequenceNormalizer decomposed = steps();
    decomposed.form = tables.form();
    // The place of each is that of the next one of the text, the last one's for more than these.
    EXPECT_EQ(normalized(decomposed, "\u00e9\u0316x"), (Units{"e@0-2", "\u0316@2-4", "\u0301@2-4", "x@4-5"}));
}

// Each step makes what the next one waits for, and undoes what an earlier one would see: another order gives another
// text.
TEST(SequenceNormalizer, TheOrderOfTheSteps) {
    const FoldingTables first({{'a', " b"}});
    const FoldingTables second({{'c', "d"}, {'b', "!"}});
    const FormTables form({{'d', 0, "e"}, {'c', 0, "!"}});
    const FoldingTables third({{'e', " f"}, {'d', "!"}});
    const FoldingTables last({{'g', "h "}, {'f', "!"}});
    SequenceNormalizer all = steps();
    all.first_strip = {true, false};  // before it there is a space that no later step may see
    all.first_folding = first.folding();
    all.first_run = {'b', 1, 'c'};
    all.second_folding = second.folding();
    all.form = form.form();
    all.third_folding = third.folding();
    all.second_strip = {true, false};
    all.second_run = {'f', 1, 'g'};
    all.last_folding = last.folding();
    all.last_strip = {false, true};
    EXPECT_EQ(normalized(all, " a"), (Units{"h@1-2"}));

    const auto without = [&](auto change) {
        SequenceNormalizer changed = all;
        change(changed);
        return normalized(changed, " a");
    };
    EXPECT_EQ(without([](SequenceNormalizer& s) { s.second_strip = {}; }), (Units{" @1-2", " @1-2", "h@1-2"}));
    EXPECT_EQ(without([](SequenceNormalizer& s) { s.last_strip = {}; }), (Units{"h@1-2", " @1-2"}));
    EXPECT_EQ(without([](SequenceNormalizer& s) { s.second_run = {}; }), (Units{"!@1-2"}));
    EXPECT_EQ(without([](SequenceNormalizer& s) { s.third_folding = {}; }), (Units{"e@1-2"}));
    EXPECT_EQ(without([](SequenceNormalizer& s) { s.form = {}; }), (Units{"!@1-2"}));
    EXPECT_EQ(without([](SequenceNormalizer& s) { s.first_run = {}; }), (Units{"!@1-2"}));
}

TEST(SequenceNormalizer, AReaderGoesOnWhereItSeeks) {
    SequenceNormalizer spaces = steps();
    spaces.first_run = kSpacesToOne;
    spaces.letters_stay = true;
    const std::string_view text = "ab cd";
    RawSplitter splitter(kNoTokens, text, SpecialTokens::recognized);
    Cursor<SequenceNormalizer> cursor(spaces, text, splitter);
    Unit unit;
    ASSERT_TRUE(cursor.next(unit));
    EXPECT_TRUE(cursor.may_seek());
    EXPECT_EQ(cursor.position(), 1U);
    cursor.seek(2);
    ASSERT_TRUE(cursor.next(unit));
    EXPECT_EQ(unit.scalar, std::uint32_t{'_'});
    EXPECT_FALSE(cursor.may_seek());  // `c` has been read to find the end of the run
    ASSERT_TRUE(cursor.next(unit));
    EXPECT_EQ(unit.scalar, std::uint32_t{'c'});
    EXPECT_TRUE(cursor.may_seek());
    spaces.letters_stay = false;
    EXPECT_FALSE(cursor.may_seek());
}

TEST(SequenceNormalizer, PlainIsWhatItsTableSays) {
    std::uint8_t plain[128] = {};
    plain['A'] = 'a';
    SequenceNormalizer table = steps();
    table.plain = plain;
    RawSplitter splitter(kNoTokens, "", SpecialTokens::recognized);
    const Cursor<SequenceNormalizer> cursor(table, "", splitter);
    EXPECT_EQ(cursor.plain('A'), 'a');
    EXPECT_EQ(cursor.plain('b'), 0);
}

FormCharsmapNormalizer form_charsmap() {
    FormCharsmapNormalizer nothing{};
    nothing.rest.plain = kNothingPlain;
    return nothing;
}

TEST(FormCharsmapNormalizer, WithoutStepsAllStays) {
    EXPECT_EQ(normalized(form_charsmap(), " a\u00e9"), (Units{" @0-1", "a@1-2", "\u00e9@2-4"}));
}

TEST(FormCharsmapNormalizer, AFormThenCharactersThenSpaces) {
    const FormTables form({{U'\u0301', 30, ""}, {U'\u00e9', 0, "e\u0301"}});
    const FoldingTables folding({{U'\u0301', " "}, {'x', " y"}, {U'\u00e9', "!"}});
    FormCharsmapNormalizer all = form_charsmap();
    all.form = form.form();
    all.folding = folding.folding();
    all.rest.strip_left_before = true;
    all.rest.strip_right_after = true;
    all.rest.run_content = '_';
    EXPECT_EQ(normalized(all, "x\u00e9\u0301a\u00e9"), (Units{"y@0-1", "e@1-3", "_@3-5", "a@5-6", "e@6-8"}));
    all.folding = {};
    EXPECT_EQ(normalized(all, "\u00e9"), (Units{"e@0-2", "\u0301@0-2"}));
    all.form = {};
    EXPECT_EQ(normalized(all, " \u00e9  a "), (Units{"\u00e9@1-3", "_@4-5", "a@5-6"}));
}

}  // namespace
