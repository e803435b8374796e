// SPDX-License-Identifier: Apache-2.0
// Tokenizes texts with tables given at run time: for tests that compare the runtime with the `tokenizers` wheel.
//
// Standard input, little-endian: the type of the tables as an array of characters, their fields in order, then
// requests. An array is its size in bytes (u64) and its bytes, padded to 8; a number a u64. A request is
//     u32 is_pair, u32 plain_text, u32 capacity, u32 size, bytes [, u32 size, bytes]
// Standard output, for each: u32 status, u32 flags (1: truncated, 2: a word was cut), u32 count, i32 ids[count], u32
// offsets[2 * count], u8 segments[count]. With the argument --pieces, u32 size and bytes of the text of each id; with
// --repeat N, every request is run N times and answered once, and standard error gets the processor time per byte of
// text in nanoseconds. With --decode a decoder's fields stand before the requests, each of them
//     u32 skip_special, u32 count, i32 ids[count]
// and its answer u32 sizes[count + 1] of the parts, the last one of what is left behind the ids, and the parts. With
// --join these are a MosesDecoder's fields, and a request is
//     u32 skip_special, u32 before, i32 prompt[before], u32 count, i32 ids[count]
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "compositions.hpp"
#include "driver_tables.hpp"
#include "etch/decode/answers.hpp"
#include "etch/decode/words.hpp"
#include "etch/tokenizer/moses_decoder.hpp"

namespace {

using namespace tokenizer_driver;

void read(Reader& in, etch::Decoder& decoder) {
    decoder.keys = in.array<std::uint8_t>();
    decoder.flags = in.array<std::uint8_t>();
    decoder.others = in.array<std::uint8_t>();
    decoder.other_begins = in.array<std::uint32_t>();
    decoder.space = in.array<std::uint8_t>();
    set(in, decoder.key_bits);
    set(in, decoder.id_count);
    set(in, decoder.space_size);
    set(in, decoder.prefix_size);
    set(in, decoder.strip);
    set(in, decoder.drops_first_spaces);
    set(in, decoder.byte_fallback);
    set(in, decoder.drops_last_spaces);
    set(in, decoder.drops_malformed);
}

void read(Reader& in, etch::MosesDecoder& decoder) {
    read(in, decoder.pieces);
    read(in, decoder.classes);
    set(in, decoder.english);
}

template <class Element>
void write(const Element* elements, std::size_t count) {
    if (std::fwrite(elements, sizeof(Element), count, stdout) != count) std::exit(3);
}

template <class Tables>
void write_pieces(const Tables& tables) {
    for (std::uint32_t id = 0; id < tables.model.piece_count; ++id) {
        const auto signed_id = static_cast<std::int32_t>(id);
        const auto size = static_cast<std::uint32_t>(etch::piece(tables, signed_id, nullptr, 0));
        std::vector<char> text(size);
        etch::piece(tables, signed_id, text.data(), size);
        write(&size, 1);
        write(text.data(), size);
    }
}

// Adds what `decode(text, capacity)` writes; asks without room first, which must change nothing where some is needed.
template <class Decode>
std::uint32_t append(std::vector<char>& text, Decode decode) {
    const std::size_t size = decode(nullptr, 0);
    if (size == 0) return 0;
    const std::unique_ptr<char[]> part(new char[size]);
    if (decode(part.get(), size) != size) std::exit(4);
    text.insert(text.end(), part.get(), part.get() + size);
    return static_cast<std::uint32_t>(size);
}

std::vector<std::int32_t> read_ids(Reader& in) {
    std::vector<std::int32_t> ids(in.number<std::uint32_t>());
    for (std::int32_t& id : ids)
        id = in.number<std::int32_t>();
    return ids;
}

template <class Model, class Decoder>
void write_decoded(const Model& model, const Decoder& decoder, bool skip_special, etch::DecoderState state,
                   const std::vector<std::int32_t>& ids) {
    std::vector<std::uint32_t> sizes;
    std::vector<char> text;
    for (const std::int32_t id : ids) {
        sizes.push_back(append(text, [&](char* to, std::size_t capacity) {
            return etch::decode(model, decoder, id, skip_special, state, to, capacity);
        }));
    }
    sizes.push_back(append(
        text, [&](char* to, std::size_t capacity) { return etch::finish_decoding(decoder, state, to, capacity); }));
    write(sizes.data(), sizes.size());
    write(text.data(), text.size());
}

template <class Tables>
void answer_decoding(Reader& in, const Tables& tables) {
    etch::Decoder decoder{};
    read(in, decoder);
    while (!in.at_end()) {
        const bool skip_special = in.number<std::uint32_t>() != 0;
        write_decoded(tables.model, decoder, skip_special, {}, read_ids(in));
    }
}

// Of the models whose words Moses' rules join.
template <class Tables>
void answer_joining(Reader& in, const Tables& tables) {
    using Model = typename Tables::Model;
    if constexpr (std::is_same_v<Model, etch::WordPiece> || std::is_same_v<Model, etch::CharacterBpe>) {
        etch::MosesDecoder decoder{};
        read(in, decoder);
        while (!in.at_end()) {
            const bool skip_special = in.number<std::uint32_t>() != 0;
            const std::vector<std::int32_t> before = read_ids(in);
            const auto count = static_cast<std::uint32_t>(before.size());
            const etch::DecoderState state = etch::decoding_behind(tables.model, decoder, before.data(), count);
            write_decoded(tables.model, decoder, skip_special, state, read_ids(in));
        }
    }
}

std::vector<char> read_all() {
    std::vector<char> bytes;
    std::size_t size = 0;
    do {
        bytes.resize(bytes.size() + (std::size_t{1} << 20));
        size += std::fread(bytes.data() + size, 1, bytes.size() - size, stdin);
    } while (size == bytes.size());
    bytes.resize(size);
    return bytes;
}

struct Options {
    bool pieces;
    bool decode;
    bool join;
    int repeats;
};

// That tasks find what they ask of a model, whichever it is; only programs of theirs call it.
template <class Model>
constexpr bool kServesTasks = noexcept(etch::mark_words(
    std::declval<const Model&>(), std::declval<const etch::Template&>(), nullptr, {},
    std::declval<const etch::MarkedTokens&>())) && noexcept(etch::trim_first(std::declval<const Model&>(),
                                                                             std::declval<etch::QuestionState&>()));

template <class Tables>
void answer(Reader& in, const Options& options) {
    static_assert(kServesTasks<typename Tables::Model>);
    const auto tables = read_tables<Tables>(in);
    if constexpr (!std::is_same_v<typename Tables::Model, etch::CodePoints>) {  // of which no model writes texts
        if (options.decode) return answer_decoding(in, tables);
        if (options.join) return answer_joining(in, tables);
    }
    // Exactly what is promised to suffice, so that a sanitizer sees more being used.
    const std::size_t scratch_bytes = etch::tokenizer_scratch_bytes(tables);
    const std::unique_ptr<std::uint64_t[]> scratch(new std::uint64_t[scratch_bytes / 8]);
    if (options.pieces) write_pieces(tables);
    double seconds = 0;
    std::size_t bytes = 0;
    while (!in.at_end()) {
        const bool is_pair = in.number<std::uint32_t>() != 0;
        const auto mode = static_cast<etch::SpecialTokens>(in.number<std::uint32_t>());
        const auto capacity = in.number<std::uint32_t>();
        const std::string_view first = in.text();
        const std::string_view second = is_pair ? in.text() : std::string_view();
        std::unique_ptr<std::int32_t[]> ids(new std::int32_t[capacity]);
        std::unique_ptr<std::uint8_t[]> segments(new std::uint8_t[capacity]);
        std::unique_ptr<etch::TokenOffset[]> offsets(new etch::TokenOffset[capacity]);
        const etch::TokenSink sink{ids.get(), segments.get(), offsets.get(), capacity};
        etch::Tokenized result{};
        etch::Status status{};
        const std::clock_t start = std::clock();  // processor time: other programs may be running
        for (int i = 0; i < options.repeats; ++i) {
            status = is_pair ? etch::tokenize_pair(tables, first, second, mode, scratch.get(), sink, result)
                             : etch::tokenize(tables, first, mode, scratch.get(), sink, result);
        }
        seconds += static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
        bytes += first.size() + second.size();
        const std::uint32_t head[3] = {static_cast<std::uint32_t>(status),
                                       (result.truncated ? 1U : 0U) | (result.cut_word ? 2U : 0U), result.count};
        write(head, 3);
        write(ids.get(), result.count);
        write(offsets.get(), result.count);
        write(segments.get(), result.count);
    }
    if (options.repeats > 1) {
        std::fprintf(stderr, "%.4f\n", seconds * 1e9 / static_cast<double>(bytes) / options.repeats);
    }
}

// One for each composition that models come with.
struct Composition {
    std::string_view type;  // as generated code spells it
    void (*answer)(Reader& in, const Options& options);
};

constexpr Composition kCompositions[] = {
    {"Tokenizer<BertNormalizer, BertSegmenter, WordPiece>", answer<etch::BertTokenizer>},
    {"Tokenizer<NoNormalizer, ByteLevelSegmenter, ByteLevelBpe>", answer<etch::ByteLevelBpeTokenizer>},
    {"Tokenizer<BertNormalizer, WhitespaceSegmenter, WordPiece>", answer<etch::WordLevelTokenizer>},
    {"Tokenizer<NoNormalizer, SingleCharacterSegmenter, Bytes>", answer<etch::ByteTokenizer>},
    {"Tokenizer<NoNormalizer, SingleCharacterSegmenter, CodePoints>", answer<etch::CodePointTokenizer>},
    {"Tokenizer<NoNormalizer, SingleCharacterSegmenter, WordPiece>", answer<etch::SingleCharacterTokenizer>},
    {"Tokenizer<NoNormalizer, LineWordSegmenter, CharacterBpe>", answer<etch::LineWordBpeTokenizer>},
    {"Tokenizer<NoNormalizer, MosesSegmenter, CharacterBpe>", answer<etch::MosesBpeTokenizer>},
    {"Tokenizer<NoNormalizer, NormalizedMosesSegmenter<MosesLanguage::english>, CharacterBpe>",
     answer<etch::EnglishMosesBpeTokenizer>},
    {"Tokenizer<NormalFormNormalizer, NormalizedMosesSegmenter<MosesLanguage::french>, CharacterBpe>",
     answer<etch::FrenchMosesBpeTokenizer>},
    {"Tokenizer<NoNormalizer, NormalizedMosesSegmenter<MosesLanguage::english, true>, CharacterBpe>",
     answer<etch::EscapedMosesBpeTokenizer<etch::MosesLanguage::english>>},
    {"Tokenizer<NoNormalizer, NormalizedMosesSegmenter<MosesLanguage::german, true>, CharacterBpe>",
     answer<etch::EscapedMosesBpeTokenizer<etch::MosesLanguage::german>>},
    {"Tokenizer<NoNormalizer, NormalizedMosesSegmenter<MosesLanguage::russian, true>, CharacterBpe>",
     answer<etch::EscapedMosesBpeTokenizer<etch::MosesLanguage::russian>>},
    {"Tokenizer<NoNormalizer, DigitsSegmenter, ByteLevelBpe>", answer<etch::DigitsBpeTokenizer>},
    {"Tokenizer<NoNormalizer, Cl100kSegmenter, ByteLevelBpe>", answer<etch::Cl100kBpeTokenizer>},
    {"Tokenizer<NormalFormNormalizer, ByteLevelSegmenter, ByteLevelBpe>",
     answer<etch::NormalFormByteLevelBpeTokenizer>},
    {"Tokenizer<NormalFormNormalizer, DigitsSegmenter, ByteLevelBpe>", answer<etch::NormalFormDigitsBpeTokenizer>},
    {"Tokenizer<NormalFormNormalizer, Cl100kSegmenter, ByteLevelBpe>", answer<etch::NormalFormCl100kBpeTokenizer>},
    {"Tokenizer<CharacterNormalizer, ByteLevelSegmenter, ByteLevelBpe>", answer<etch::CharacterByteLevelBpeTokenizer>},
    {"Tokenizer<CharacterNormalizer, WhitespaceSegmenter, WordPiece>", answer<etch::CharacterWordLevelTokenizer>},
    {"Tokenizer<CharsmapNormalizer, MetaspaceSegmenter, CharacterBpe>", answer<etch::CharacterBpeTokenizer>},
    {"Tokenizer<CharsmapNormalizer, MetaspaceSegmenter, Unigram>", answer<etch::UnigramTokenizer>},
    {"Tokenizer<SentencePieceNormalizer, MetaspaceSegmenter, Unigram>", answer<etch::SentencePieceUnigramTokenizer>},
    {"Tokenizer<SentencePieceNormalizer, MetaspaceSegmenter, CharacterBpe>", answer<etch::SentencePieceBpeTokenizer>},
    {"Tokenizer<CharacterNormalizer, BertSegmenter, WordPiece>", answer<etch::CharacterWordPieceTokenizer>},
    {"Tokenizer<NormalFormNormalizer, BertSegmenter, WordPiece>", answer<etch::NormalFormWordPieceTokenizer>},
    {"Tokenizer<FoldingNormalizer, MetaspaceSegmenter, Unigram>", answer<etch::FoldingUnigramTokenizer>},
    {"Tokenizer<FormCharsmapNormalizer, MetaspaceSegmenter, Unigram>", answer<etch::FormCharsmapUnigramTokenizer>},
    {"Tokenizer<NormalFormNormalizer, MetaspaceSegmenter, Unigram>", answer<etch::NormalFormUnigramTokenizer>},
    {"Tokenizer<SequenceNormalizer, ByteLevelSegmenter, ByteLevelBpe>", answer<etch::SequenceByteLevelBpeTokenizer>},
    {"Tokenizer<SequenceNormalizer, DigitsSegmenter, ByteLevelBpe>", answer<etch::SequenceDigitsBpeTokenizer>},
    {"Tokenizer<SequenceNormalizer, Cl100kSegmenter, ByteLevelBpe>", answer<etch::SequenceCl100kBpeTokenizer>},
    {"Tokenizer<SequenceNormalizer, MetaspaceSegmenter, CharacterBpe>", answer<etch::SequenceCharacterBpeTokenizer>},
    {"Tokenizer<SequenceNormalizer, BertSegmenter, WordPiece>", answer<etch::SequenceWordPieceTokenizer>},
    {"Tokenizer<SequenceNormalizer, WhitespaceSegmenter, WordPiece>", answer<etch::SequenceWordLevelTokenizer>},
    {"Tokenizer<SequenceNormalizer, MetaspaceSegmenter, Unigram>", answer<etch::SequenceUnigramTokenizer>},
    {"Tokenizer<NoNormalizer, SplitSegmenter<ByteLevelSegmenter>, ByteLevelBpe>",
     answer<etch::SplitByteLevelBpeTokenizer>},
    {"Tokenizer<SequenceNormalizer, SplitSegmenter<ByteLevelSegmenter>, ByteLevelBpe>",
     answer<etch::SequenceSplitByteLevelBpeTokenizer>},
    {"Tokenizer<SequenceNormalizer, ClipSegmenter, ByteLevelBpe>", answer<etch::SequenceClipBpeTokenizer>},
    {"Tokenizer<NoNormalizer, ExpressionSegmenter, ByteLevelBpe>", answer<etch::ExpressionBpeTokenizer>},
    {"Tokenizer<SequenceNormalizer, ExpressionSegmenter, ByteLevelBpe>", answer<etch::SequenceExpressionBpeTokenizer>},
    {"Tokenizer<NoNormalizer, SplitSegmenter<WordSegmenter>, ByteLevelBpe>", answer<etch::WordByteLevelBpeTokenizer>},
    {"Tokenizer<SequenceNormalizer, SplitSegmenter<WordSegmenter>, ByteLevelBpe>",
     answer<etch::SequenceWordByteLevelBpeTokenizer>},
    {"Tokenizer<BertNormalizer, SplitSegmenter<WordSegmenter>, WordPiece>", answer<etch::SplitWordPieceTokenizer>},
    {"Tokenizer<SequenceNormalizer, SplitSegmenter<WordSegmenter>, WordPiece>",
     answer<etch::SequenceSplitWordPieceTokenizer>},
    {"Tokenizer<SequenceNormalizer, SplitSegmenter<MetaspaceSegmenter>, CharacterBpe>",
     answer<etch::SequenceSplitCharacterBpeTokenizer>},
    {"Tokenizer<BertNormalizer, SplitSegmenter<WordSegmenter>, CharacterBpe>", answer<etch::WordCharacterBpeTokenizer>},
    {"Tokenizer<SequenceNormalizer, SplitSegmenter<WordSegmenter>, CharacterBpe>",
     answer<etch::SequenceWordCharacterBpeTokenizer>},
    {"Tokenizer<CharsmapNormalizer, SplitSegmenter<MetaspaceSegmenter>, Unigram>", answer<etch::SplitUnigramTokenizer>},
    {"Tokenizer<SequenceNormalizer, SplitSegmenter<MetaspaceSegmenter>, Unigram>",
     answer<etch::SequenceSplitUnigramTokenizer>},
    {"Tokenizer<CharsmapNormalizer, SplitSegmenter<WordSegmenter>, Unigram>", answer<etch::WordUnigramTokenizer>},
    {"Tokenizer<SequenceNormalizer, SplitSegmenter<WordSegmenter>, Unigram>",
     answer<etch::SequenceWordUnigramTokenizer>},
};

}  // namespace

int main(int argc, char** argv) {
    const auto has = [&](int count, const char* name) { return argc == count && std::strcmp(argv[1], name) == 0; };
    const Options options{has(2, "--pieces"), has(2, "--decode"), has(2, "--join"),
                          has(3, "--repeat") ? std::atoi(argv[2]) : 1};
    Reader in(read_all());
    const std::string_view type = in.characters();
    for (const Composition& composition : kCompositions) {
        if (composition.type != type) continue;
        composition.answer(in, options);
        return std::fflush(stdout) == 0 ? 0 : 3;
    }
    std::fprintf(stderr, "driver: there is no %.*s\n", static_cast<int>(type.size()), type.data());
    return 2;
}
