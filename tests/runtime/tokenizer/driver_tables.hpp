// SPDX-License-Identifier: Apache-2.0
// Tables of a tokenizer, read from bytes as driver.cpp describes them: the fields of each part in the order in which
// its struct declares them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "etch/tokenizer.hpp"

namespace tokenizer_driver {

class Reader {
  public:
    explicit Reader(std::vector<char> bytes) : bytes_(std::move(bytes)) {}

    bool at_end() const { return at_ == bytes_.size(); }

    template <class Number>
    Number number() {
        Number value;
        std::memcpy(&value, take(sizeof value), sizeof value);
        return value;
    }

    std::string_view text() {
        const auto size = number<std::uint32_t>();
        return {take(size), size};
    }

    std::string_view characters() {
        const auto size = number<std::uint64_t>();
        const char* text = take(size);
        take((8 - size % 8) % 8);
        return {text, size};
    }

    // Copied out, so that it is aligned and so that a sanitizer sees every access beyond its end.
    template <class Element>
    const Element* array() {
        const auto size = number<std::uint64_t>();
        const char* from = take(size);
        take((8 - size % 8) % 8);
        if (size == 0) return nullptr;
        storage_.emplace_back(new std::uint64_t[(size + 7) / 8]);
        char* to = reinterpret_cast<char*>(storage_.back().get());
        std::memcpy(to, from, size);
        return reinterpret_cast<const Element*>(to);
    }

  private:
    const char* take(std::size_t size) {
        if (bytes_.size() - at_ < size) {
            std::fprintf(stderr, "driver: input ends early\n");
            std::exit(2);
        }
        at_ += size;
        return bytes_.data() + (at_ - size);
    }

    std::vector<char> bytes_;
    std::vector<std::unique_ptr<std::uint64_t[]>> storage_;
    std::size_t at_ = 0;
};

template <class Number>
void set(Reader& in, Number& field) {
    field = static_cast<Number>(in.number<std::uint64_t>());
}

inline void read(Reader& in, etch::AddedTokens& tokens) {
    tokens.text = in.array<std::uint8_t>();
    tokens.begins = in.array<std::uint32_t>();
    tokens.ids = in.array<std::int32_t>();
    tokens.flags = in.array<std::uint8_t>();
    tokens.first_bytes = in.array<std::uint32_t>();
    set(in, tokens.count);
}

inline void read(Reader& in, etch::Trie& trie) {
    trie.labels = in.array<std::uint8_t>();
    trie.blocks = in.array<std::uint32_t>();
    trie.ranks = in.array<std::uint32_t>();
    trie.packed_ids = in.array<std::uint8_t>();
    set(in, trie.block_count);
    set(in, trie.key_count);
    set(in, trie.id_bits);
}

inline void read(Reader& in, etch::BertNormalizer& normalizer) {
    set(in, normalizer.clean_text);
    set(in, normalizer.handle_chinese_chars);
    set(in, normalizer.strip_accents);
    set(in, normalizer.lowercase);
}

inline void read(Reader&, etch::BertSegmenter&) {}

inline void read(Reader& in, etch::WordPiece& model) {
    model.first_nodes = in.array<std::uint8_t>();
    read(in, model.trie);
    model.prefix = in.array<std::uint8_t>();
    set(in, model.initial_end);
    set(in, model.continuing_end);
    set(in, model.first_end);
    set(in, model.piece_count);
    set(in, model.prefix_size);
    set(in, model.max_word_chars);
    set(in, model.unknown_id);
}

inline void read(Reader&, etch::NoNormalizer&) {}

inline void read(Reader& in, etch::NormalForm& form) {
    form.top = in.array<std::uint8_t>();
    form.middle = in.array<std::uint16_t>();
    form.leaves = in.array<std::uint16_t>();
    form.entries = in.array<std::uint32_t>();
    form.texts = in.array<std::uint8_t>();
    form.pairs = in.array<std::uint32_t>();
    set(in, form.pair_count);
    set(in, form.composes);
}

inline void read(Reader& in, etch::NormalFormNormalizer& normalizer) {
    read(in, normalizer.form);
}

inline void read(Reader& in, etch::ByteLevelSegmenter& segmenter) {
    set(in, segmenter.add_prefix_space);
}

inline void read(Reader& in, etch::WhitespaceSegmenter& segmenter) {
    set(in, segmenter.splits_words);
    set(in, segmenter.whole_words);
    set(in, segmenter.punctuation);
}

inline void read(Reader&, etch::SingleCharacterSegmenter&) {}

inline void read(Reader&, etch::LineWordSegmenter&) {}

inline void read(Reader& in, etch::DigitsSegmenter& segmenter) {
    set(in, segmenter.add_prefix_space);
    set(in, segmenter.individual);
}

inline void read(Reader& in, etch::Cl100kSegmenter& segmenter) {
    set(in, segmenter.most_digits);
}

inline void read(Reader& in, etch::WordSegmenter& segmenter) {
    set(in, segmenter.add_prefix_space);
    set(in, segmenter.whole_words);
}

inline void read(Reader& in, etch::CharacterClasses& classes) {
    classes.ascii_classes = in.array<std::uint8_t>();
    classes.class_ranges = in.array<std::uint32_t>();
    set(in, classes.range_count);
}

template <class Inner>
void read(Reader& in, etch::SplitSegmenter<Inner>& segmenter) {
    read(in, segmenter.classes);
    segmenter.parted = in.array<std::uint32_t>();
    set(in, segmenter.letter_class);
    read(in, segmenter.inner);
}

inline void read(Reader& in, etch::MosesSegmenter& segmenter) {
    read(in, segmenter.classes);
    segmenter.abbreviations = in.array<std::uint8_t>();
}

inline void read(Reader& in, etch::Folding& folding) {
    folding.top = in.array<std::uint8_t>();
    folding.middle = in.array<std::uint16_t>();
    folding.leaves = in.array<std::uint16_t>();
    folding.folded = in.array<std::uint8_t>();
    set(in, folding.decomposes_hangul);
    set(in, folding.joins_quotes);
}

template <etch::MosesLanguage kLanguage, bool kEscapes>
void read(Reader& in, etch::NormalizedMosesSegmenter<kLanguage, kEscapes>& segmenter) {
    read(in, segmenter.classes);
    segmenter.kinds = in.array<std::uint16_t>();
    segmenter.abbreviations = in.array<std::uint8_t>();
    read(in, segmenter.folding);
}

inline void read(Reader& in, etch::ExpressionSegmenter& segmenter) {
    read(in, segmenter.classes);
    segmenter.front_steps = in.array<std::uint16_t>();
    segmenter.word_steps = in.array<std::uint16_t>();
    set(in, segmenter.class_count);
}

inline void read(Reader& in, etch::ClipSegmenter& segmenter) {
    read(in, segmenter.words);
}

inline void read(Reader& in, etch::Bytes& model) {
    read(in, model.trie);
    set(in, model.first_end);
    set(in, model.piece_count);
    set(in, model.first_id);
}

inline void read(Reader&, etch::CodePoints&) {}

inline void read(Reader& in, etch::ByteLevelBpe& model) {
    model.first_nodes = in.array<std::uint16_t>();
    read(in, model.trie);
    model.left_sizes = in.array<std::uint8_t>();
    model.merges = in.array<std::uint8_t>();
    set(in, model.merge_bits);
    set(in, model.first_end);
    set(in, model.piece_count);
    set(in, model.trim_offsets);
    set(in, model.keep_first_space);
    set(in, model.marks_ends);
}

inline void read(Reader& in, etch::CharsmapNormalizer& normalizer) {
    normalizer.units = in.array<std::uint32_t>();
    normalizer.texts = in.array<std::uint8_t>();
    normalizer.plain = in.array<std::uint8_t>();
    set(in, normalizer.has_map);
    set(in, normalizer.strip_left_before);
    set(in, normalizer.strip_right_before);
    set(in, normalizer.strip_left_after);
    set(in, normalizer.strip_right_after);
    set(in, normalizer.run_content);
}

inline void read(Reader& in, etch::SentencePieceNormalizer& normalizer) {
    normalizer.units = in.array<std::uint32_t>();
    normalizer.texts = in.array<std::uint8_t>();
    normalizer.plain = in.array<std::uint8_t>();
    set(in, normalizer.has_map);
    read(in, normalizer.codes);
    set(in, normalizer.unknown_code);
}

inline void read(Reader& in, etch::CharacterNormalizer& normalizer) {
    read(in, normalizer.folding);
}

inline void read(Reader& in, etch::FoldingNormalizer& normalizer) {
    set(in, normalizer.joins_spaces);
    read(in, normalizer.folding);
    read(in, normalizer.rest);
}

inline void read(Reader& in, etch::StripRule& rule) {
    set(in, rule.left);
    set(in, rule.right);
}

inline void read(Reader& in, etch::RunRule& rule) {
    set(in, rule.of);
    set(in, rule.least);
    set(in, rule.content);
}

inline void read(Reader& in, etch::SequenceNormalizer& normalizer) {
    read(in, normalizer.first_strip);
    read(in, normalizer.first_folding);
    read(in, normalizer.first_run);
    read(in, normalizer.second_folding);
    read(in, normalizer.form);
    read(in, normalizer.third_folding);
    read(in, normalizer.second_strip);
    read(in, normalizer.second_run);
    read(in, normalizer.last_folding);
    read(in, normalizer.last_strip);
    normalizer.plain = in.array<std::uint8_t>();
    set(in, normalizer.letters_stay);
}

inline void read(Reader& in, etch::FormCharsmapNormalizer& normalizer) {
    read(in, normalizer.form);
    read(in, normalizer.folding);
    read(in, normalizer.rest);
}

inline void read(Reader& in, etch::MetaspaceSegmenter& segmenter) {
    set(in, segmenter.prepend);
    set(in, segmenter.split);
    set(in, segmenter.split_whitespace);
}

inline void read(Reader& in, etch::CharacterBpe& model) {
    model.first_nodes = in.array<std::uint32_t>();
    model.metaspace_nodes = in.array<std::uint32_t>();
    read(in, model.trie);
    model.marks = in.array<std::uint8_t>();
    model.merge_begins = in.array<std::uint8_t>();
    model.left_sizes = in.array<std::uint8_t>();
    model.merge_ranks = in.array<std::uint8_t>();
    model.byte_ids = in.array<std::int32_t>();
    set(in, model.metaspace_node);
    set(in, model.ranks_by_id);
    set(in, model.has_unmade);
    set(in, model.begin_bits);
    set(in, model.rank_bits);
    set(in, model.named_begin);
    set(in, model.first_end);
    set(in, model.piece_count);
    set(in, model.unknown_id);
    set(in, model.byte_fallback);
    set(in, model.fuse_unknown);
    set(in, model.parts_at_spaces);
    set(in, model.marks_goes_on);
    set(in, model.marks_ends);
}

inline void read(Reader& in, etch::Unigram& model) {
    model.first_nodes = in.array<std::uint32_t>();
    model.metaspace_nodes = in.array<std::uint32_t>();
    read(in, model.trie);
    model.scores = in.array<std::uint32_t>();
    model.marks = in.array<std::uint8_t>();
    model.byte_ids = in.array<std::int32_t>();
    set(in, model.wide_scores);
    set(in, model.float_sums);
    set(in, model.byte_fallback);
    set(in, model.metaspace_node);
    set(in, model.lowest_key);
    set(in, model.longest);
    set(in, model.named_begin);
    set(in, model.first_end);
    set(in, model.piece_count);
    set(in, model.unknown_id);
}

inline void read(Reader& in, etch::TemplatePart* parts, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        set(in, parts[i].id);
        set(in, parts[i].segment);
    }
}

inline void read(Reader& in, etch::Template& parts) {
    set(in, parts.single_count);
    set(in, parts.pair_count);
    read(in, parts.single, parts.single_count);
    read(in, parts.pair, parts.pair_count);
}

template <class Tables>
Tables read_tables(Reader& in) {
    Tables tables{};
    read(in, tables.raw_tokens);
    read(in, tables.normalized_tokens);
    read(in, tables.normalizer);
    read(in, tables.segmenter);
    read(in, tables.model);
    read(in, tables.parts);
    return tables;
}

}  // namespace tokenizer_driver
