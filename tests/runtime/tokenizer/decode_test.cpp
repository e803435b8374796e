// SPDX-License-Identifier: Apache-2.0
// Ids back to text: ids that are none, what a text goes on behind, room that is too small.
#include <gtest/gtest.h>

#include <cstdio>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "calls.hpp"
#include "etch/tokenizer/decoders.hpp"

namespace {

using namespace tokenizer_calls;
using etch::Decoder;
using etch::DecoderState;
using test_vocabulary::kMergedText;
using test_vocabulary::kMergedText_decoder;
using test_vocabulary::kUncased_decoder;

// Every id is asked for with too little room first, which changes nothing.
template <class Model>
std::string decoded(const Model& model, const Decoder& decoder, const std::vector<std::int32_t>& ids,
                    DecoderState state = {}, bool skip_special = false) {
    std::string text;
    const auto add = [&text](auto decode) {
        const std::size_t size = decode(nullptr, 0);
        std::string part(size, '?');
        const std::size_t written = size == 0 ? 0 : decode(part.data(), size);
        EXPECT_EQ(written, size);
        text += part;
    };
    for (const std::int32_t id : ids) {
        add([&](char* to, std::size_t capacity) {
            return etch::decode(model, decoder, id, skip_special, state, to, capacity);
        });
    }
    add([&](char* to, std::size_t capacity) { return etch::finish_decoding(decoder, state, to, capacity); });
    return text;
}

std::vector<std::int32_t> ids_of(std::string_view text) {
    return run(kUncased, text).ids;
}

TEST(Decode, WordPiece) {
    const auto& model = kUncased.model;
    EXPECT_EQ(decoded(model, kUncased_decoder, ids_of("the unaffable world")), "[CLS] the unaffable world [SEP]");
    EXPECT_EQ(decoded(model, kUncased_decoder, ids_of("the unaffable world"), {}, true), "the unaffable world");
}

TEST(Decode, CharacterBpe) {
    std::vector<std::uint64_t> scratch(etch::tokenizer_scratch_bytes(kMergedText) / 8 + 1);
    std::vector<std::int32_t> ids(100);
    std::vector<std::uint8_t> segments(100);
    Tokenized result{};
    const TokenSink sink{ids.data(), segments.data(), nullptr, 100};
    const std::string text = "the  abc c\u00e9 \u4e2d the";
    ASSERT_EQ(etch::tokenize(kMergedText, text, SpecialTokens::recognized, scratch.data(), sink, result), Status::ok);
    ids.resize(result.count);
    EXPECT_EQ(decoded(kMergedText.model, kMergedText_decoder, ids, {}, true), text);
}

// What is no UTF-8 adds nothing, be it at the end, or ended by a special token that adds nothing itself.
TEST(Decode, BytesThatAreNoText) {
    const auto text_of = [](const std::vector<std::int32_t>& ids, bool skip_special) {
        return decoded(test_vocabulary::kBytesAlone.model, test_vocabulary::kBytesAlone_decoder, ids, {}, skip_special);
    };
    const std::int32_t lead = 3 + 0xC3;
    const std::int32_t rest = 3 + 0xA9;
    EXPECT_EQ(text_of({lead, rest, rest, 3 + 'a', lead}, false), "\u00e9a");
    EXPECT_EQ(text_of({lead, 1, rest}, true), "\u00e9");
    EXPECT_EQ(text_of({lead, 1, rest}, false), "</s>");
    EXPECT_EQ(text_of({3 + 0xFF, 259, 0, 3 + 0x80}, false), "<extra_id_0><pad>");
}

TEST(Decode, IdsWithoutAToken) {
    const std::vector<std::int32_t> the = ids_of("the");
    std::vector<std::uint8_t> flags(kUncased_decoder.flags, kUncased_decoder.flags + kUncased_decoder.id_count);
    Decoder decoder = kUncased_decoder;
    decoder.flags = flags.data();
    const auto past = static_cast<std::int32_t>(decoder.id_count);
    EXPECT_EQ(decoded(kUncased.model, decoder, {the[1], -1, past, the[1]}), "the the");
    flags[static_cast<std::size_t>(the[1])] |= Decoder::kAbsent;
    EXPECT_EQ(decoded(kUncased.model, decoder, the), "[CLS] [SEP]");
    EXPECT_EQ(decoded(kUncased.model, decoder, {the[1]}), "");
}

// A text that follows another one goes on as that one's tokens do.
TEST(Decode, BehindAText) {
    const std::vector<std::int32_t> the = ids_of("the");
    const auto behind = [&](std::vector<std::int32_t> ids, const Decoder& decoder) {
        const DecoderState state = etch::decoding_behind(decoder, ids.data(), static_cast<std::uint32_t>(ids.size()));
        return decoded(kUncased.model, decoder, {the[1]}, state);
    };
    const auto past = static_cast<std::int32_t>(kUncased_decoder.id_count);
    EXPECT_EQ(behind({}, kUncased_decoder), "the");
    EXPECT_EQ(behind({the[0], the[2], -1, past}, kUncased_decoder), "the");  // special tokens are no text
    EXPECT_EQ(behind({the[0], the[1], the[2]}, kUncased_decoder), " the");
    std::vector<std::uint8_t> flags(kUncased_decoder.flags, kUncased_decoder.flags + kUncased_decoder.id_count);
    Decoder decoder = kUncased_decoder;
    decoder.flags = flags.data();
    const std::int32_t hello = ids_of("hello")[1];
    EXPECT_EQ(behind({hello}, decoder), " the");
    flags[static_cast<std::size_t>(hello)] |= Decoder::kAbsent;
    EXPECT_EQ(behind({hello}, decoder), "the");
}

// The space that the decoder takes from the beginning is no longer there behind a text.
TEST(Decode, SpacesBehindAText) {
    std::vector<std::uint64_t> scratch(etch::tokenizer_scratch_bytes(kMergedText) / 8 + 1);
    std::int32_t ids[20];
    std::uint8_t segments[20];
    Tokenized result{};
    const TokenSink sink{ids, segments, nullptr, 20};
    ASSERT_EQ(etch::tokenize(kMergedText, "the", SpecialTokens::recognized, scratch.data(), sink, result), Status::ok);
    const std::vector<std::int32_t> the(ids, ids + result.count);
    EXPECT_EQ(decoded(kMergedText.model, kMergedText_decoder, the, {}, true), "the");
    const DecoderState state = etch::decoding_behind(kMergedText_decoder, ids, result.count);
    EXPECT_EQ(decoded(kMergedText.model, kMergedText_decoder, the, state, true), " the");
}

// A decoder of texts that no piece has, with a model that has none of them.
class Texts {
  public:
    explicit Texts(const Strings& texts) {
        begins_.push_back(0);
        for (const std::string& text : texts) {
            const std::uint32_t key = kUncased.model.trie.key_count + static_cast<std::uint32_t>(begins_.size()) - 1;
            keys_.push_back(static_cast<std::uint8_t>(key));
            keys_.push_back(static_cast<std::uint8_t>(key >> 8));
            others_.insert(others_.end(), text.begin(), text.end());
            begins_.push_back(static_cast<std::uint32_t>(others_.size()));
        }
        keys_.resize(keys_.size() + 4);
        flags_.assign(texts.size(), Decoder::kGlued);
        decoder.keys = keys_.data();
        decoder.flags = flags_.data();
        decoder.others = others_.data();
        decoder.other_begins = begins_.data();
        decoder.key_bits = 16;
        decoder.id_count = static_cast<std::uint32_t>(texts.size());
        decoder.byte_fallback = true;
    }
    // Of all of them in a row.
    std::string all() const {
        std::vector<std::int32_t> ids;
        for (std::uint32_t i = 0; i < decoder.id_count; ++i)
            ids.push_back(static_cast<std::int32_t>(i));
        return decoded(kUncased.model, decoder, ids);
    }

    Decoder decoder{};

  private:
    std::vector<std::uint8_t> keys_, flags_, others_;
    std::vector<std::uint32_t> begins_;
};

std::string of(const Strings& texts) {
    return Texts(texts).all();
}

// A space that ends a text is there as soon as another word follows.
TEST(Decode, BehindAWordThatIsMarked) {
    Texts texts({"the</w>", "a", "<x>"});
    const std::string mark = "</w>";
    texts.decoder.space = reinterpret_cast<const std::uint8_t*>(mark.data());
    texts.decoder.space_size = 4;
    texts.decoder.drops_last_spaces = true;
    std::vector<std::uint8_t> flags = {Decoder::kGlued | Decoder::kEnds, Decoder::kGlued,
                                       Decoder::kGlued | Decoder::kSpecial};
    texts.decoder.flags = flags.data();
    const auto behind = [&](std::vector<std::int32_t> ids) {
        const DecoderState state =
            etch::decoding_behind(texts.decoder, ids.data(), static_cast<std::uint32_t>(ids.size()));
        return decoded(kUncased.model, texts.decoder, {1, 0}, state);
    };
    EXPECT_EQ(behind({}), "athe");
    EXPECT_EQ(behind({1, 0}), " athe");
    EXPECT_EQ(behind({0, 2}), " athe");  // special tokens are no text
    EXPECT_EQ(behind({0, 1}), "athe");
    texts.decoder.drops_last_spaces = false;  // the text had it
    EXPECT_EQ(behind({0}), "athe ");
}

TEST(Decode, TokensThatAreBytes) {
    EXPECT_EQ(of({"<0x41>", "<0x7a>", "<0x5A>"}), "AzZ");
    EXPECT_EQ(of({"<0x+9>"}), "\t");  // a sign, as the wheel reads numbers
    EXPECT_EQ(of({"<0xC3>", "<0xA9>", "b"}), "\u00e9b");
    EXPECT_EQ(of({"<0xc3>", "b", "<0xA9>"}), "\uFFFDb\uFFFD");
    EXPECT_EQ(of({"<0x41>", "<0xC3>", "<0x42>", "b"}), "\uFFFD\uFFFD\uFFFDb");  // all of a run or nothing of it
    for (const char* text : {"<0y41>", "<1x41>", "(0x41>", "<0x41)", "<0x4>", "<0x041>", "<0x4G>", "<0xG4>", "<0x4+>",
                             "<0x/1>", "<0x:1>", "<0x@1>", "<0x`1>", "<0xg1>", "<0x1`>", "<0x1g>"})
        EXPECT_EQ(of({text}), text);
    for (int byte = 0; byte < 128; ++byte) {
        char text[8];
        std::snprintf(text, sizeof text, byte % 2 == 0 ? "<0x%02X>" : "<0x%02x>", static_cast<unsigned>(byte));
        EXPECT_EQ(of({text}), std::string(1, static_cast<char>(byte)));
    }
}

// Runs of more than DecoderState::kMostRun are judged in parts: what is whole of the beginning stays.
TEST(Decode, LongRunsOfBytes) {
    for (int letters = 60; letters < 70; ++letters) {
        Strings texts(static_cast<std::size_t>(letters), "<0x61>");
        const std::string all = repeat("a", letters);
        EXPECT_EQ(of(texts), all);
        texts.insert(texts.end(), {"<0xF0>", "<0x9F>", "<0x98>", "<0x80>"});  // across the end of a part
        EXPECT_EQ(of(texts), all + "\U0001f600");
        const Strings once = texts;
        texts.insert(texts.end(), once.begin(), once.end());
        EXPECT_EQ(of(texts), all + "\U0001f600" + all + "\U0001f600");
    }
    // Malformed within the first part, which is all that is replaced with what follows it.
    Strings texts(DecoderState::kMostRun - 1, "<0x61>");
    texts.insert(texts.begin(), "<0xFF>");
    EXPECT_EQ(of(texts), repeat("\uFFFD", DecoderState::kMostRun));
    texts.insert(texts.end(), 5, "<0x61>");
    EXPECT_EQ(of(texts), repeat("\uFFFD", DecoderState::kMostRun + 5));
}

// As Unicode recommends it: one U+FFFD for each longest beginning of a character.
TEST(Decode, MalformedBytesInPieces) {
    const auto text = [](std::initializer_list<int> bytes) { return std::string(bytes.begin(), bytes.end()); };
    const std::string no = "\uFFFD";
    const std::pair<std::string, std::string> cases[] = {
        {text({0x7F, 0x80, 0xC1, 0xF5}), "\x7f" + no + no + no},
        {text({0xC2, 0x80, 0xDF, 0xBF}), "\u0080\u07ff"},
        {text({0xC2, 'a', 0xC2, 0xC0, 0x80}), no + "a" + no + no + no},
        {text({0xE0, 0xA0, 0x80, 0xE0, 0x9F, 0xBF}), "\u0800" + no + no + no},
        {text({0xED, 0x9F, 0xBF, 0xED, 0xA0, 0x80}), "\ud7ff" + no + no + no},
        {text({0xEE, 0x80, 0x80, 0xEF, 0xBF, 0xBF}), "\ue000\uffff"},
        {text({0xE1, 0x80, 'a', 0xE1, 'a', 0xE1, 0x80, 0xC0}), no + "a" + no + "a" + no + no},
        {text({0xF0, 0x90, 0x80, 0x80, 0xF0, 0x8F, 0xBF, 0xBF}), "\U00010000" + no + no + no + no},
        {text({0xF4, 0x8F, 0xBF, 0xBF, 0xF4, 0x90, 0x80, 0x80}), "\U0010ffff" + no + no + no + no},
        {text({0xF1, 0x80, 0x80, 'a', 0xF3, 0xBF, 0xBF, 0xBF}), no + "a\U000fffff"},
        {text({'a', 0xF1, 0x80, 0x80}), "a" + no},
    };
    for (const auto& [given, expected] : cases) {
        EXPECT_EQ(of({given}), expected);
        Strings bytes;  // one by one
        for (const char c : given)
            bytes.emplace_back(1, c);
        EXPECT_EQ(of(bytes), expected);
    }
}

}  // namespace
