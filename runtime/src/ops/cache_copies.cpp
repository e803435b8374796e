// SPDX-License-Identifier: Apache-2.0
// Keys are a matrix whose outputs are tokens, values one whose inputs are: of keys a range of tokens lies together, of
// values it does for every output, or every panel of outputs.
#include "etch/ops/cache_copies.hpp"

#include <cstddef>
#include <cstring>

#include "cache_layout.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

std::size_t key_offset(const S8HeadCache&, const HeadShape& shape, std::uint32_t head, std::uint32_t place) noexcept {
    return s8_key_offset(shape, head, place);
}
std::size_t key_offset(const F32HeadCache&, const HeadShape& shape, std::uint32_t head, std::uint32_t place) noexcept {
    return f32_key_offset(shape, head, place);
}
std::size_t value_offset(const S8HeadCache&, const HeadShape& shape, std::uint32_t head, std::uint32_t place) noexcept {
    return s8_value_offset(shape, head, place);
}
std::size_t value_offset(const F32HeadCache&, const HeadShape& shape, std::uint32_t head,
                         std::uint32_t place) noexcept {
    return f32_value_offset(shape, head, place);
}

void copy_scales(const S8HeadCache& cache, const HeadShape& shape, std::uint32_t head, const CacheCopy& copy) noexcept {
    float* const scales = cache.scales + std::size_t{head} * shape.cache_tokens;
    std::memcpy(scales + copy.to + copy.first, scales + copy.from + copy.first,
                (copy.last - copy.first) * sizeof *scales);
}
void copy_scales(const F32HeadCache&, const HeadShape&, std::uint32_t, const CacheCopy&) noexcept {}

// The rows that are copied, in whole groups.
struct Groups {
    std::uint32_t first;
    std::uint32_t last;

    Groups(const CacheCopy& copy, std::size_t group) noexcept
        : first(copy.first / static_cast<std::uint32_t>(group) * static_cast<std::uint32_t>(group)),
          last(static_cast<std::uint32_t>(round_up(copy.last, group))) {}
};

}  // namespace

template <class Cache>
void CopyKeys<Cache>::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t head = first; head < last; ++head) {
        for (std::uint32_t i = 0; i < copies.count; ++i) {
            const CacheCopy& copy = copies.copies[i];
            const Groups groups(copy, key_group(shape.packing));
            const auto at = [&](std::uint32_t token) { return key_offset(cache, shape, head, token); };
            const std::size_t begin = at(copy.from + groups.first);
            std::memcpy(cache.packed + at(copy.to + groups.first), cache.packed + begin,
                        (at(copy.from + groups.last) - begin) * sizeof *cache.packed);
            copy_scales(cache, shape, head, copy);
        }
    }
}

template <class Cache>
void CopyValues<Cache>::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t together = shape.packing == Packing::panel ? kPanelWidth : 1;  // outputs
    for (std::uint32_t head = first; head < last; ++head) {
        for (std::uint32_t i = 0; i < copies.count; ++i) {
            const CacheCopy& copy = copies.copies[i];
            const Groups groups(copy, value_group(cache.packed, shape.packing));
            for (std::uint32_t n = 0; n < shape.head_width; n += together) {
                const auto at = [&](std::uint32_t token) {
                    return value_offset(cache, shape, head, 0) +
                           packed_index(cache.packed, shape.packing, n, token, shape.cache_tokens);
                };
                const std::size_t begin = at(copy.from + groups.first);
                std::memcpy(cache.packed + at(copy.to + groups.first), cache.packed + begin,
                            (at(copy.from + groups.last) - begin) * sizeof *cache.packed);
            }
            copy_scales(cache, shape, head, copy);
        }
    }
}

template void CopyKeys<S8HeadCache>::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void CopyKeys<F32HeadCache>::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void CopyValues<S8HeadCache>::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void CopyValues<F32HeadCache>::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
