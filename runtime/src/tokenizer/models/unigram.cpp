// SPDX-License-Identifier: Apache-2.0
// Sums are of doubles from left to right, a path replaces another one only if its sum is greater, and shorter pieces
// come first: as in `encode_optimized` of models/unigram/model.rs of `tokenizers`. Where sums are of floats, and of a
// whole text, all is as in `EncodeOptimized` of unigram_model.cc of SentencePiece 0.2.3.
#include "unigram.hpp"

#include <cstring>

#include "metaspace.hpp"
#include "trie.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

constexpr std::uint32_t kUnknown = 0xFFFFFFFF;    // a character that is no piece
constexpr std::uint32_t kUnreached = 0xFFFFFFFE;  // no path to here
constexpr std::uint32_t kNoKey = 0xFFFFFFFF;
constexpr double kUnknownPenalty = 10.0;  // below the lowest score
constexpr double kMostSum = 100'000.0;    // float sums further below 0 begin anew from 0

// Bytes of the character that begins with this one; the text is well-formed.
constexpr std::uint32_t size_of_character(std::uint8_t first) noexcept {
    return first < 0x80U ? 1 : first < 0xE0U ? 2 : first < 0xF0U ? 3 : 4;
}

}  // namespace

double Words<Unigram>::score(std::uint32_t key) const noexcept {
    std::uint64_t bits;
    if (model_.wide_scores) {
        bits = model_.scores[2 * key] | std::uint64_t{model_.scores[2 * key + 1]} << 32;
    } else {
        float narrow;
        std::memcpy(&narrow, model_.scores + key, sizeof narrow);
        const double wide = narrow;
        std::memcpy(&bits, &wide, sizeof bits);
        bits += mark(key) >> Unigram::kStepShift & Unigram::kStepMask;
        bits -= Unigram::kStepBias;
    }
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}

// Rounding the double to float is adding floats: a double holds the bits that this rounding asks for.
double Words<Unigram>::sum_of(double sum, double score) const noexcept {
    const double both = sum + score;
    return model_.float_sums ? double{static_cast<float>(both)} : both;
}

// The sum at done_. Where it has become too large for floats it is taken off all that have been reached. Scores, and
// with them sums, are at most 0.
double Words<Unigram>::rebased(double sum) noexcept {
    if (!model_.float_sums || sum >= -kMostSum) return sum;
    for (std::uint32_t place = done_; place <= reached_; ++place) {
        if (place == done_ || lattice_.keys[place] != kUnreached)
            lattice_.sums[place] = sum_of(lattice_.sums[place], -sum);
    }
    return 0;
}

std::uint32_t Words<Unigram>::mark(std::uint32_t key) const noexcept {
    return packed_value(model_.marks, key, Unigram::kMarkBits);
}

std::int32_t Words<Unigram>::id(std::uint32_t key) const noexcept {
    const std::int32_t id = id_of_key(model_.trie, key);
    return static_cast<std::uint32_t>(id) < model_.piece_count ? id : model_.unknown_id;
}

// The key that is this text, or kNoKey.
std::uint32_t Words<Unigram>::find(const std::uint8_t* text, std::uint32_t size) const noexcept {
    if (!begins_with_metaspace(text, size)) return find_below(model_.first_nodes[text[0]], text + 1, size - 1);
    if (size == kMetaspaceSize) return find_below(model_.metaspace_node, text + size, 0);
    constexpr std::uint32_t kNext = kMetaspaceSize + 1;
    return find_below(model_.metaspace_nodes[text[kMetaspaceSize]], text + kNext, size - kNext);
}

// The same among the texts that unknown text may be.
std::uint32_t Words<Unigram>::find_named(const std::uint8_t* text, std::uint32_t size) const noexcept {
    for (std::uint32_t node = model_.named_begin; node < model_.first_end; ++node)
        if (model_.trie.labels[node] == text[0]) return find_below(node, text + 1, size - 1);
    return kNoKey;
}

// The key that ends behind `rest` below a node, which may be none.
std::uint32_t Words<Unigram>::find_below(std::uint32_t node, const std::uint8_t* rest,
                                         std::uint32_t size) const noexcept {
    for (std::uint32_t at = 0; at < size && node != kNoNode; ++at)
        node = find_child(model_.trie, node, rest[at]);
    if (node == kNoNode || !ends_key(model_.trie, node)) return kNoKey;
    const std::uint32_t key = key_at(model_.trie, node);
    return (mark(key) & hidden_) == 0 ? key : kNoKey;
}

// Most words are one piece, and most pieces are what the best path makes of their text.
bool Words<Unigram>::write_whole() noexcept {
    const std::uint32_t key = find(lattice_.bytes, size_);
    if (key == kNoKey || (mark(key) & Unigram::kWholeMark) == 0) return false;
    if (model_.float_sums) {
        if (before_ < -Unigram::kMostWholeSum) return false;
        before_ = sum_of(before_, score(key));
    }
    out_.write(id(key), lattice_.char_begins[0], lattice_.char_ends[size_]);
    return true;
}

// Follows all pieces that begin before `end`.
void Words<Unigram>::advance(std::uint32_t end) noexcept {
    const Trie& trie = model_.trie;
    const double unknown = sum_of(score(model_.lowest_key), -kUnknownPenalty);
    if (reached_ == 0 && !is_continued_) lattice_.sums[0] = before_;
    while (done_ < end) {
        const std::uint8_t* bytes = lattice_.bytes;
        const std::uint32_t next = done_ + size_of_character(bytes[done_]);
        const double sum = rebased(lattice_.sums[done_]);
        bool has_character = false;
        const bool skips = begins_with_metaspace(bytes + done_, size_ - done_);
        std::uint32_t at = done_ + (skips ? kMetaspaceSize : 1);
        std::uint32_t node = skips ? model_.metaspace_node : model_.first_nodes[bytes[done_]];
        while (node != kNoNode) {
            if (ends_key(trie, node)) {
                const std::uint32_t key = key_at(trie, node);
                if ((mark(key) & hidden_) == 0) {
                    reach(at, done_, key, sum_of(sum, score(key)));
                    has_character = has_character || at == next;
                }
            }
            if (at == size_) break;
            node = skips && at == next ? model_.metaspace_nodes[bytes[at]] : find_child(trie, node, bytes[at]);
            ++at;
        }
        if (!has_character) reach(next, done_, kUnknown, sum_of(sum, unknown));
        done_ = next;
    }
}

void Words<Unigram>::reach(std::uint32_t place, std::uint32_t from, std::uint32_t key, double sum) noexcept {
    while (reached_ < place)
        lattice_.keys[++reached_] = kUnreached;
    if (lattice_.keys[place] != kUnreached && !(sum > lattice_.sums[place])) return;
    lattice_.sums[place] = sum;
    lattice_.keys[place] = key;
    lattice_.links[place] = static_cast<std::uint16_t>(from);
}

// Whether the piece that ends here is an unknown one.
bool Words<Unigram>::is_unknown(std::uint32_t place) const noexcept {
    const std::uint32_t key = lattice_.keys[place];
    return key == kUnknown || id_of_key(model_.trie, key) == model_.unknown_id;
}

// Writes what all paths agree on, or else everything that is held as a word of its own.
void Words<Unigram>::make_room() noexcept {
    if (!is_continued_) out_.begin_word();
    std::uint32_t end = size_ - model_.longest;
    while ((lattice_.bytes[end] & 0xC0U) == 0x80U)
        --end;
    advance(end);
    const std::uint32_t from = agreed();
    if (from < Unigram::kLeastAgreed) {
        advance(size_);
        write_path(size_);
        if (model_.float_sums) before_ = lattice_.sums[size_];
        out_.cut_word = true;
        begin();
        return;
    }
    write_path(from);
    const std::size_t left = size_ - from;
    std::memmove(lattice_.bytes, lattice_.bytes + from, left);
    std::memmove(lattice_.char_begins, lattice_.char_begins + from, left * sizeof(std::uint32_t));
    std::memmove(lattice_.char_ends, lattice_.char_ends + from, (left + 1) * sizeof(std::uint32_t));
    std::memmove(lattice_.sums, lattice_.sums + from, (left + 1) * sizeof(double));
    std::memmove(lattice_.keys, lattice_.keys + from, (left + 1) * sizeof(std::uint32_t));
    for (std::uint32_t place = 1; place <= left; ++place)
        lattice_.links[place] = static_cast<std::uint16_t>(lattice_.links[place + from] - from);
    size_ -= from;
    done_ -= from;
    reached_ -= from;
    is_continued_ = true;
}

// The last place behind a known piece that the best paths to all places ahead go through; 0 if there is none. A path to
// a place from done_ on may still be replaced, but only by one through another of these places.
std::uint32_t Words<Unigram>::agreed() noexcept {
    std::uint8_t marked[Lattice::kPlaces] = {};
    std::uint32_t count = 0;
    for (std::uint32_t place = done_; place <= reached_; ++place) {
        marked[place] = lattice_.keys[place] != kUnreached;
        count += marked[place];
    }
    // Each marked place gives its mark to where its piece begins, the last one first, until one mark is left.
    std::uint32_t at = reached_;
    for (; count > 1 || marked[at] == 0; --at) {
        if (marked[at] == 0) continue;
        const std::uint32_t before = lattice_.links[at];
        count -= marked[before];
        marked[before] = 1;
    }
    while (at != 0 && is_unknown(at))
        at = lattice_.links[at];
    return at;
}

void Words<Unigram>::write_path(std::uint32_t end) noexcept {
    // The links of the path are turned round, from its end to the beginning of the word.
    std::uint32_t after = end;
    for (std::uint32_t at = lattice_.links[end];;) {
        const std::uint32_t before = at == 0 ? 0 : lattice_.links[at];
        lattice_.links[at] = static_cast<std::uint16_t>(after);
        if (at == 0) break;
        after = at;
        at = before;
    }
    for (std::uint32_t at = 0; at < end;) {
        std::uint32_t next = lattice_.links[at];
        if (is_unknown(next)) {
            while (next < end && is_unknown(lattice_.links[next]))
                next = lattice_.links[next];
            write_unknown(at, next);
        } else {
            out_.write(id(lattice_.keys[next]), lattice_.char_begins[at], lattice_.char_ends[next]);
        }
        at = next;
    }
}

// Neighbouring unknown characters, which together may be a piece after all.
void Words<Unigram>::write_unknown(std::uint32_t begin, std::uint32_t end) noexcept {
    const std::uint32_t first = lattice_.char_begins[begin];
    const std::uint32_t last = lattice_.char_ends[end];
    std::uint32_t key = find(lattice_.bytes + begin, end - begin);
    if (key == kNoKey) key = find_named(lattice_.bytes + begin, end - begin);
    if (key != kNoKey) {
        out_.write(id(key), first, last);
        return;
    }
    bool in_bytes = model_.byte_fallback;
    for (std::uint32_t at = begin; at < end && in_bytes; ++at)
        in_bytes = model_.byte_ids[lattice_.bytes[at]] != kNoPiece;
    if (!in_bytes) {
        out_.write(model_.unknown_id, first, last);
        return;
    }
    for (std::uint32_t at = begin; at < end; ++at)
        out_.write(model_.byte_ids[lattice_.bytes[at]], first, last);
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
