// SPDX-License-Identifier: Apache-2.0
#include "wordpiece.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

constexpr std::uint32_t kReachKeyBytes = 2;
constexpr std::uint32_t kReachUnlimited = 255;

struct Found {
    std::int32_t id;
    std::uint32_t chars;
};

// The longest piece that matches at byte `at`, character `first`. One pass hashes every candidate, `reach` ends it
// early; then the candidates are tried from the longest down. A try costs two loads, and a third for one miss in 256.
Found longest_piece(const WordPiece& tables, const Word& word, std::uint32_t first, std::uint32_t at) noexcept {
    const std::uint8_t* key = word.bytes() + at;
    std::uint64_t* hashes = word.hashes();
    std::uint64_t state = first == 0 ? tables.initial_seed : tables.continuing_seed;
    const std::uint32_t prefix_size = first == 0 ? 0 : tables.prefix_size;
    std::uint32_t limit = word.size() - at;
    if (limit > tables.max_piece_bytes) limit = tables.max_piece_bytes;
    std::uint32_t size = 0;
    std::uint32_t chars = 0;
    while (first + chars < word.chars()) {
        const std::uint32_t char_end = word.byte_end(first + chars) - at;
        if (char_end > limit) break;
        for (; size < char_end; ++size) {
            state = hash_step(state, key[size]);
            if (size + 1 == kReachKeyBytes) {
                const std::uint32_t reach = tables.reach[state >> (64 - tables.reach_bits)];
                if (reach != kReachUnlimited && reach < limit) limit = reach;
            }
        }
        if (char_end > limit) break;
        hashes[chars++] = state;
    }
    for (; chars > 0; --chars) {
        const std::uint32_t key_size = word.byte_end(first + chars - 1) - at;
        const std::int32_t id = find_piece(tables, hashes[chars - 1], key, key_size, prefix_size);
        if (id != kNoPiece) return {id, chars};
    }
    return {kNoPiece, 0};
}

}  // namespace

void write_pieces(const WordPiece& tables, const Word& word, TokenWriter& out) noexcept {
    const std::uint32_t count_before = out.count;
    std::uint32_t at = 0;
    for (std::uint32_t first = 0; first < word.chars();) {
        const Found found = word.too_long() ? Found{kNoPiece, 0} : longest_piece(tables, word, first, at);
        if (found.id == kNoPiece) {
            out.count = count_before;
            out.write(tables.unknown_id, word.begin(), word.end());
            return;
        }
        const std::uint32_t last = first + found.chars - 1;
        out.write(found.id, word.char_begin(first), word.char_end(last));
        at = word.byte_end(last);
        first = last + 1;
    }
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
