// SPDX-License-Identifier: Apache-2.0
// Words to pieces: the best path through all pieces of a word, left to right (Viterbi), in a window of fixed size.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/utf8.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/models.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// The bytes of a word, or of what is left of it, and the best path to each place between them. In memory of the
// caller's for kMostBytes of them, and one place more.
struct Lattice {
    static constexpr std::uint32_t kPlaces = Unigram::kMostBytes + 8;

    explicit Lattice(void* memory) noexcept
        : sums(static_cast<double*>(memory)),
          keys(reinterpret_cast<std::uint32_t*>(sums + kPlaces)),
          char_begins(keys + kPlaces),
          char_ends(char_begins + kPlaces),
          links(reinterpret_cast<std::uint16_t*>(char_ends + kPlaces)),
          bytes(reinterpret_cast<std::uint8_t*>(links + kPlaces)) {}

    double* sums;                // of the scores on the path to a place
    std::uint32_t* keys;         // of the piece that ends there, or kUnknown
    std::uint32_t* char_begins;  // in the original text, of the character that begins at a place
    std::uint32_t* char_ends;    // and of the one that ends there
    std::uint16_t* links;        // where the piece that ends at a place begins; on a path to be written, where the one
                                 // that begins there ends
    std::uint8_t* bytes;
};

template <>
class Words<Unigram> {
  public:
    Words(const Unigram& model, SpecialTokens mode, void* scratch, TokenWriter& out) noexcept
        : model_(model),
          hidden_(mode == SpecialTokens::plain_text ? Unigram::kSpecialMark : 0),
          lattice_(scratch),
          out_(out) {}

    bool empty() const noexcept { return size_ == 0; }
    bool one_more_is_certain() const noexcept { return size_ != 0; }

    void append(const Unit& unit) noexcept {
        if (size_ + kMaxUtf8Bytes > Unigram::kMostBytes) make_room();
        lattice_.char_begins[size_] = unit.begin;
        size_ += encode(unit.scalar, lattice_.bytes + size_);
        lattice_.char_ends[size_] = unit.end;
    }
    void append_ascii(std::uint8_t byte, std::uint32_t at) noexcept {
        if (size_ + kMaxUtf8Bytes > Unigram::kMostBytes) make_room();
        lattice_.bytes[size_] = byte;
        lattice_.char_begins[size_] = at;
        ++size_;
        lattice_.char_ends[size_] = at + 1;
    }

    void end() noexcept {
        if (size_ == 0) return;
        if (!is_continued_) out_.begin_word();
        if (is_continued_ || !write_whole()) {
            advance(size_);
            write_path(size_);
            if (model_.float_sums) before_ = lattice_.sums[size_];
        }
        begin();
    }

    void write_token(const TokenMatch& match) noexcept {
        out_.begin_word();
        out_.write(match.id, match.begin, match.end);
        before_ = 0;
    }

  private:
    void begin() noexcept {
        size_ = done_ = reached_ = 0;
        is_continued_ = false;
    }
    bool write_whole() noexcept;
    void make_room() noexcept;
    void advance(std::uint32_t end) noexcept;
    std::uint32_t agreed() noexcept;
    void write_path(std::uint32_t end) noexcept;
    void write_unknown(std::uint32_t begin, std::uint32_t end) noexcept;
    void reach(std::uint32_t place, std::uint32_t from, std::uint32_t key, double sum) noexcept;
    bool is_unknown(std::uint32_t place) const noexcept;
    double rebased(double sum) noexcept;
    double sum_of(double sum, double score) const noexcept;
    double score(std::uint32_t key) const noexcept;
    std::uint32_t mark(std::uint32_t key) const noexcept;
    std::int32_t id(std::uint32_t key) const noexcept;
    std::uint32_t find(const std::uint8_t* text, std::uint32_t size) const noexcept;
    std::uint32_t find_named(const std::uint8_t* text, std::uint32_t size) const noexcept;
    std::uint32_t find_below(std::uint32_t node, const std::uint8_t* rest, std::uint32_t size) const noexcept;

    const Unigram& model_;
    std::uint32_t hidden_;  // marks of the pieces that text never becomes
    Lattice lattice_;
    TokenWriter& out_;
    double before_ = 0;          // of float sums, that of the words before this one
    std::uint32_t size_ = 0;     // bytes
    std::uint32_t done_ = 0;     // pieces that begin before this have been followed,
    std::uint32_t reached_ = 0;  // none ends behind this; places up to here are set
    bool is_continued_ = false;  // the word's beginning has been written
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
