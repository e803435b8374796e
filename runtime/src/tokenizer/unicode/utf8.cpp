// SPDX-License-Identifier: Apache-2.0
#include "utf8.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

std::uint32_t byte_at(std::string_view text, std::uint32_t at) noexcept {
    return static_cast<unsigned char>(text[at]);
}

}  // namespace

Decoded decode(std::string_view text, std::uint32_t at) noexcept {
    const std::uint32_t first = byte_at(text, at);
    if (first < 0x80U) return {first, 1};
    const Lead form = lead(first);
    if (form.size == 0) return {kReplacement, 1};
    std::uint32_t scalar = first & (0x7FU >> form.size);
    std::uint32_t lowest = form.lowest;
    std::uint32_t highest = form.highest;
    for (std::uint32_t i = 1; i < form.size; ++i) {
        if (at + i >= text.size()) return {kReplacement, i};
        const std::uint32_t next = byte_at(text, at + i);
        if (next < lowest || next > highest) return {kReplacement, i};
        scalar = (scalar << 6) | (next & 0x3FU);
        lowest = 0x80;
        highest = 0xBF;
    }
    return {scalar, form.size};
}

std::uint32_t well_formed_size(std::string_view text) noexcept {
    std::uint32_t at = 0;
    while (at < text.size()) {
        const Decoded found = decode(text, at);
        const bool is_written_so = found.size == 3 && byte_at(text, at) == 0xEFU;
        if (found.scalar == kReplacement && !is_written_so) break;
        at += found.size;
    }
    return at;
}

Decoded decode_before(std::string_view text, std::uint32_t end) noexcept {
    for (std::uint32_t size = 1; size <= kMaxUtf8Bytes && size <= end; ++size) {
        const std::uint32_t at = end - size;
        if ((byte_at(text, at) & 0xC0U) == 0x80U) continue;
        const Decoded found = decode(text, at);
        if (found.size == size) return found;
        break;
    }
    return {kReplacement, 1};
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
