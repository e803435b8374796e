// SPDX-License-Identifier: Apache-2.0
// Rows of keys and values from one text of a cache to another: what a beam needs that goes on with another one's text.
#pragma once

#include <cstdint>

#include "etch/ops/attention.hpp"
#include "etch/ops/op.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// The rows [first, last) of the text at place `from` become those of the text at place `to`, which has the same ones
// before them; the groups in which they are packed are copied whole. Places are multiples of kPanelWidth.
struct CacheCopy {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t first;
    std::uint32_t last;
};

// Several of them, no place both read and written. A view.
struct CacheCopies {
    const CacheCopy* copies;  // [count]
    std::uint32_t count;

    constexpr std::uint64_t rows() const noexcept {
        std::uint64_t sum = 0;
        for (std::uint32_t i = 0; i < count; ++i)
            sum += copies[i].last - copies[i].first;
        return sum;
    }
};

// In the caches of `heads` key heads, those of several layers one behind the other. Cache is S8HeadCache or
// F32HeadCache. Units: heads.
template <class Cache>
struct CopyKeys {
    const HeadShape& shape;
    std::uint32_t heads;
    CacheCopies copies;
    Cache cache;

    std::uint32_t units() const noexcept { return heads; }
    std::uint64_t cost() const noexcept { return 1 + copies.rows() * heads * shape.head_width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

template <class Cache>
struct CopyValues {
    const HeadShape& shape;
    std::uint32_t heads;
    CacheCopies copies;
    Cache cache;

    std::uint32_t units() const noexcept { return heads; }
    std::uint64_t cost() const noexcept { return 1 + copies.rows() * heads * shape.head_width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// As what a cache is of says, in generated code.
template <class Cache>
CopyKeys(const HeadShape&, std::uint32_t, CacheCopies, Cache) -> CopyKeys<Cache>;
template <class Cache>
CopyValues(const HeadShape&, std::uint32_t, CacheCopies, Cache) -> CopyValues<Cache>;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
