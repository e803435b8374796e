// SPDX-License-Identifier: Apache-2.0
// Words that Moses' rules join: what is held, room that is too small, what a text goes on behind.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "calls.hpp"
#include "etch/tokenizer/moses_decoder.hpp"

namespace {

using namespace tokenizer_calls;
using etch::DecoderState;
using etch::MosesDecoder;

// Kinds of ASCII as the rules have them, and of a few others.
class Joined {
  public:
    explicit Joined(const Strings& texts, bool english = true) {
        for (std::uint32_t c = 0; c < 128; ++c) {
            const bool is_letter = (c | 0x20U) >= 'a' && (c | 0x20U) <= 'z';
            ascii_[c] = is_letter && english ? MosesDecoder::kLetter : 0;
        }
        mark(" \t\n", MosesDecoder::kWhiteSpace);
        mark("$([{", MosesDecoder::kOpens);
        mark(",.?!:;\\%}])", MosesDecoder::kPunctuation);
        mark("'\"`", MosesDecoder::kQuotes);
        begins_.push_back(0);
        for (const std::string& text : texts) {
            keys_.push_back(static_cast<std::uint8_t>(kUncased.model.trie.key_count + begins_.size() - 1));
            others_.insert(others_.end(), text.begin(), text.end());
            begins_.push_back(static_cast<std::uint32_t>(others_.size()));
        }
        keys_.resize(keys_.size() + 4);
        flags_.assign(texts.size(), 0);
        decoder.pieces.keys = keys_.data();
        decoder.pieces.flags = flags_.data();
        decoder.pieces.others = others_.data();
        decoder.pieces.other_begins = begins_.data();
        decoder.pieces.space = reinterpret_cast<const std::uint8_t*>("</w>");
        decoder.pieces.space_size = 4;
        decoder.pieces.key_bits = 8;
        decoder.pieces.id_count = static_cast<std::uint32_t>(texts.size());
        decoder.classes = {ascii_, kRanges, 4};
        decoder.english = english;
    }

    // Of these ids behind a prompt; each is asked for with too little room first, which changes nothing.
    std::string text(const std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& prompt = {}) const {
        const auto count = static_cast<std::uint32_t>(prompt.size());
        DecoderState state = etch::decoding_behind(kUncased.model, decoder, prompt.data(), count);
        std::string found;
        const auto add = [&found](auto decode) {
            const std::size_t size = decode(nullptr, 0);
            std::string part(size, '?');
            if (size != 0) {
                EXPECT_EQ(decode(part.data(), size), size);
            }
            found += part;
        };
        for (const std::int32_t id : ids) {
            add([&](char* to, std::size_t capacity) {
                return etch::decode(kUncased.model, decoder, id, true, state, to, capacity);
            });
        }
        add([&](char* to, std::size_t capacity) { return etch::finish_decoding(decoder, state, to, capacity); });
        return found;
    }
    std::string all() const {
        std::vector<std::int32_t> ids;
        for (std::uint32_t i = 0; i < decoder.pieces.id_count; ++i)
            ids.push_back(static_cast<std::int32_t>(i));
        return text(ids);
    }

    MosesDecoder decoder{};
    std::vector<std::uint8_t> flags_;

  private:
    // U+201C to U+201E are quotation marks, but for the second; from U+4E00 on East Asian.
    static constexpr std::uint32_t kRanges[] = {0, 0x201CU << 8 | MosesDecoder::kQuotes, 0x201FU << 8,
                                                0x4E00U << 8 | MosesDecoder::kEastAsian};

    void mark(const char* characters, std::uint8_t kind) {
        for (; *characters != 0; ++characters)
            ascii_[static_cast<std::uint8_t>(*characters)] = kind;
    }

    std::uint8_t ascii_[128];
    std::vector<std::uint8_t> keys_, others_;
    std::vector<std::uint32_t> begins_;
};

std::string joined(Strings words, bool english = true) {
    for (std::string& word : words)
        word += "</w>";
    return Joined(words, english).all();
}

TEST(JoinedWords, Spaces) {
    EXPECT_EQ(joined({}), "");
    EXPECT_EQ(joined({"a", ",", "b", ".", "(", "c", ")", "..."}), "a, b. (c)...");
    EXPECT_EQ(joined({".", "a", ".b"}), ". a .b");
    EXPECT_EQ(joined({"$", "5", "$a", "b"}), "$5 $a b");
    EXPECT_EQ(joined({"\u4e00", "\u4e01", "a", "\u4e02", ",", "\u4e03"}), "\u4e00\u4e01 a \u4e02, \u4e03");
    EXPECT_EQ(Joined({"a b", "\t", "c</w>d", "</w></w>e"}).all(), "a b c d e");  // white space is none of a word
}

TEST(JoinedWords, QuotationMarks) {
    EXPECT_EQ(joined({"a", "\"", "b", "\"", "c", "\"", "d"}), "a \"b\" c \"d");
    EXPECT_EQ(joined({"a", "\u201e", "b", "\u201c", "c", "\"", "d"}), "a \u201eb\u201c c \"d");  // as straight ones
    EXPECT_EQ(joined({"a", "''", "b", "'", "c", "''", "d", "'", "e"}), "a ''b 'c'' d' e");       // each by itself
    EXPECT_EQ(joined({"a", "\"a", "\"", "b"}), "a \"a \"b");
    EXPECT_EQ(joined({"a", "''''", "b", "''''", "c"}), "a ''''b ''''c");  // too many to be remembered
}

TEST(JoinedWords, English) {
    EXPECT_EQ(joined({"it", "'s", "'a", "'5", "'"}), "it's'a '5 '");
    EXPECT_EQ(joined({"'s", "its", "'", "x", "'", "y"}), "'s its' x 'y");
    EXPECT_EQ(joined({"it", "'s", "its", "'", "x"}, false), "it 's its 'x");
}

TEST(JoinedWords, Dashes) {
    EXPECT_EQ(joined({"a", "@-@", "b"}), "a-b");
    EXPECT_EQ(joined({"@-@", "a", "@-@"}), "-a-");
    EXPECT_EQ(joined({"a", "@-@", "@-@", "b"}), "a-@-@ b");  // no space is left for the second
    EXPECT_EQ(joined({"a", "@-@", "@-@", "@-@", "b"}), "a-@-@-b");
    EXPECT_EQ(joined({"a", ".", "@-@", "b"}), "a .-b");
    EXPECT_EQ(joined({"@", "@-", "@-x", "@-@x", "@@-@"}), "@ @- @-x @-@x @@-@");
    EXPECT_EQ(Joined({"@", "-", "@</w>", "a"}).all(), "-a");
}

TEST(JoinedWords, Names) {
    EXPECT_EQ(joined({"&lt;a&gt;", "&amp;lt;", "&bar;&#124;", "&bra;&ket;", "&#91;&#93;"}), "<a> &lt; || [] []");
    EXPECT_EQ(joined({"x", "&apos;s", "&quot;", "a", "&quot;"}), "x's \"a\"");
    EXPECT_EQ(joined({"&&amp;", "&amp", "&quo&quot;", "&#92;", "&", "&\u4e00"}), "&& &amp &quo\" &#92; & &\u4e00");
}

// Of a word that is not decided nothing is written before; of one that is too long it is decided early.
TEST(JoinedWords, Held) {
    EXPECT_EQ(Joined({"a</w>", repeat(".", 28), "b"}).all(), "a " + repeat(".", 28) + "b");
    EXPECT_EQ(Joined({"a</w>", repeat(".", 29), "b"}).all(), "a" + repeat(".", 29) + "b");
    EXPECT_EQ(Joined({"a</w>", repeat(".", 90), "</w>b"}).all(), "a" + repeat(".", 90) + " b");
}

TEST(JoinedWords, IdsWithoutAText) {
    Joined words({"a</w>", "b</w>", "c</w>"});
    words.flags_[1] = etch::Decoder::kSpecial;
    words.flags_[2] = etch::Decoder::kAbsent;
    EXPECT_EQ(words.text({0, 1, 2, -1, 3, 0}), "a a");
    EXPECT_EQ(words.text({0}, {1, 2, -1}), "a");
}

TEST(JoinedWords, BehindAText) {
    const Joined words({"a</w>", "(</w>", ".</w>", "@-@</w>", "b", "'</w>", ".", "&am", "p;"});
    EXPECT_EQ(words.text({0}, {0}), " a");
    EXPECT_EQ(words.text({0}, {0, 1}), "a");
    EXPECT_EQ(words.text({2, 0}, {0}), ". a");
    EXPECT_EQ(words.text({0}, {0, 2}), " a");
    EXPECT_EQ(words.text({3, 0}, {0, 2}), "-a");
    EXPECT_EQ(words.text({3, 0}, {0, 3}), "@-@ a");
    EXPECT_EQ(words.text({0}, {0, 3}), "a");
    EXPECT_EQ(words.text({4, 0}, {4}), "ba");
    EXPECT_EQ(words.text({4, 0}, {0, 6}), "ba");  // what was written stays
    EXPECT_EQ(words.text({8}, {7}), "p;");
    EXPECT_EQ(words.text({0, 5, 0}, {0, 5}), "a' a");
    EXPECT_EQ(words.text({}, {0, 6}), "");
}

TEST(JoinedWords, CharacterBpe) {
    Joined words({"a</w>", ".</w>"});
    words.decoder.pieces.id_count = 0;
    DecoderState state = etch::decoding_behind(test_vocabulary::kMergedText.model, words.decoder, nullptr, 0);
    EXPECT_EQ(etch::decode(test_vocabulary::kMergedText.model, words.decoder, 0, true, state, nullptr, 0), 0U);
}

}  // namespace
