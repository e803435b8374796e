// SPDX-License-Identifier: Apache-2.0
// Added tokens: what is matched, what is swallowed, and that nothing depends on how far a text was searched.
#include "calls.hpp"

namespace {

using namespace tokenizer_calls;

TEST(TokenizerAddedTokens, AreFoundInText) {
    EXPECT_EQ(run(kWithTokens, "the new YÓRK the").pieces, Strings({"the", "New York", "the"}));
    const Output left = run(kWithTokens, "a  <l>a");
    EXPECT_EQ(left.pieces, Strings({"a", "<l>", "a"}));
    EXPECT_EQ(left.offsets[2].begin, 1U);
    const Output right = run(kWithTokens, "<r> \u3000 a");
    EXPECT_EQ(right.offsets[1].end, 8U);
    EXPECT_EQ(run(kWithTokens, "the<w>").pieces.size(), 4U);  // beside a word: taken apart
    EXPECT_EQ(run(kWithTokens, "the <w>.").pieces, Strings({"the", "<w>", "."}));
    EXPECT_EQ(run(kWithTokens, "the <w>.", 300, SpecialTokens::plain_text).pieces.size(), 5U);
    const Output plain = run(kWithTokens, "the <l>New York<r>[SEP]", 300, SpecialTokens::plain_text);
    EXPECT_EQ(plain.pieces, Strings({"the", "<l>", "New York", "<r>", "[", "sep", "]"}));  // only special ones are text
}

// White space behind the end of a text is not a token's.
TEST(TokenizerAddedTokens, StrippingEndsWithTheText) {
    const std::string_view text = "<r>  a";
    EXPECT_EQ(run(kWithTokens, text.substr(0, 3)).offsets[1].end, 3U);
    EXPECT_EQ(run(kWithTokens, text.substr(0, 4)).offsets[1].end, 4U);
}

// Texts are searched for tokens 256 bytes at a time; nothing depends on where these end.
TEST(TokenizerAddedTokens, AddedTokensInLongTexts) {
    for (const int spaces : {1, 2, 252, 253, 254, 255, 256, 257, 258, 510, 511, 512, 513, 700}) {
        const std::string gap = repeat(" ", spaces);
        const auto size = static_cast<std::uint32_t>(spaces);
        const Output left = run(kWithTokens, "a" + gap + "<l>a");
        ASSERT_EQ(left.pieces, Strings({"a", "<l>", "a"})) << spaces;
        EXPECT_EQ(left.offsets[2].begin, 1U) << spaces;
        EXPECT_EQ(left.offsets[2].end, size + 4) << spaces;
        const Output right = run(kWithTokens, "<r>" + gap + "a<r>" + gap);
        ASSERT_EQ(right.pieces, Strings({"<r>", "a", "<r>"})) << spaces;
        EXPECT_EQ(right.offsets[1].end, size + 3) << spaces;
        EXPECT_EQ(right.offsets[2].begin, size + 3) << spaces;
        EXPECT_EQ(right.offsets[3].end, 2 * size + 7) << spaces;
        EXPECT_EQ(run(kWithTokens, "the" + gap + "<w>" + gap + "the").pieces, Strings({"the", "<w>", "the"})) << spaces;
        EXPECT_EQ(run(kWithTokens, gap + "é" + gap + "é[SEP]é").pieces, Strings({"e", "e", "[SEP]", "e"})) << spaces;
        EXPECT_EQ(run(kWithTokens, gap + "New York").pieces, Strings({"New York"})) << spaces;
    }
}

// A word, and a run of marks, across the end of what was searched.
TEST(TokenizerAddedTokens, LongWordsAndRuns) {
    for (int before = 240; before < 260; ++before) {
        const std::string gap = repeat(" ", before);
        EXPECT_EQ(uncased(gap + "hello 中文 İstanbul"), Strings({"hello", "中", "文", "istanbul"})) << before;
        EXPECT_EQ(uncased(gap + "cafe\u0301\u0301\u0301 hi"), Strings({"cafe", "hi"})) << before;
        EXPECT_EQ(uncased(gap + "q\U0001e000\u0301\u1b44"), Strings({"q\u1b44\U0001e000"})) << before;
        EXPECT_EQ(uncased(gap + "x\xe2\x82"), Strings({"x"})) << before;
    }
    EXPECT_EQ(uncased("cafe" + repeat("\u0301", 1000) + " hi"), Strings({"cafe", "hi"}));
    EXPECT_EQ(uncased(repeat("a", 600) + " hi"), Strings({"[UNK]", "hi"}));
}

// White space beside a token that is matched in normalized text.
TEST(TokenizerAddedTokens, StrippingInNormalizedText) {
    const auto expect = [](std::string_view text, const Strings& pieces, std::size_t at, unsigned begin, unsigned end) {
        const Output out = run(kWithTokens, text);
        ASSERT_EQ(out.pieces, pieces) << text;
        EXPECT_EQ(out.offsets[at].begin, begin) << text;
        EXPECT_EQ(out.offsets[at].end, end) << text;
    };
    expect("a  <n>  the", {"a", "<n>", "the"}, 2, 1, 8);
    expect("a  <n>the", {"a", "<n>", "the"}, 2, 1, 6);
    expect("<N>é", {"<n>", "e"}, 1, 0, 3);
    expect(" <n> ", {"<n>"}, 1, 0, 5);
    expect("<n> <n>", {"<n>", "<n>"}, 1, 0, 4);
    expect("<n> <n>", {"<n>", "<n>"}, 2, 4, 7);  // the space is the first one's
    expect("a\u3000<n>\u3000\u200b the", {"a", "<n>", "the"}, 2, 1, 14);
    expect("a <n\u0301> the", {"a", "<n>", "the"}, 2, 1, 8);
    expect("a . <n> , the", {"a", ".", "<n>", ",", "the"}, 3, 3, 8);
    expect("new yor<n> new york", {"[UNK]", "[UNK]", "<n>", "New York"}, 4, 11, 19);
}

// What single_word, lstrip and rstrip ask of the neighbours, malformed bytes among them.
TEST(TokenizerAddedTokens, NeighboursOfAddedTokens) {
    EXPECT_EQ(run(kWithTokens, "é\x80<w>\x80the").pieces.size(), 5U);  // malformed bytes vanish before it is looked for
    EXPECT_EQ(run(kWithTokens, "é \x80<w>\x80 the").pieces, Strings({"e", "<w>", "the"}));
    EXPECT_EQ(run(kWithTokens, "é<w>").pieces.size(), 4U);
    EXPECT_EQ(run(kWithTokens, "<w>é").pieces.size(), 4U);
    EXPECT_EQ(run(kWithTokens, "<w>").pieces, Strings({"<w>"}));
    EXPECT_EQ(run(kWithTokens, "<w><w> <w>").pieces, Strings({"<w>", "<w>", "<w>"}));
    EXPECT_EQ(run(kWithTokens, "<l><r><l>").pieces, Strings({"<l>", "<r>", "<l>"}));
    EXPECT_EQ(run(kWithTokens, "<r> <l>").offsets[2].begin, 4U);  // the first one takes the space
    EXPECT_EQ(run(kWithTokens, "new york").pieces, Strings({"New York"}));
    EXPECT_EQ(run(kWithTokens, "the[SEP][CLS]<").pieces.size(), 4U);
    EXPECT_EQ(run(kWithTokens, "[SE").pieces.front(), "[");
    // Looked for in the text as it is: a lone byte that is not a character is no word.
    EXPECT_EQ(run(kWithTokens, "é\x80<s>\x80the").pieces, Strings({"e", "<s>", "the"}));
    EXPECT_EQ(run(kWithTokens, "é<s>").pieces.size(), 4U);
    EXPECT_EQ(run(kWithTokens, "<s>é").pieces.size(), 4U);
    EXPECT_EQ(run(kWithTokens, "<s>, <s>").pieces, Strings({"<s>", ",", "<s>"}));
    EXPECT_EQ(run(kWithTokens, std::string_view("<s>the").substr(0, 3)).pieces, Strings({"<s>"}));  // ends there
}

}  // namespace
