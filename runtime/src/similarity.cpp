// SPDX-License-Identifier: Apache-2.0
#include "etch/similarity.hpp"

#include "etch/float_mode.hpp"
#include "kernels/row_sum.hpp"
#include "kernels/square_root.hpp"
#include "ops/tiny.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

namespace {

// Not inlined: FloatMode wants it so.
[[gnu::noinline]] float cosine(const float* a, const float* b, std::uint32_t width) noexcept {
    RowSum products;
    RowSum squares_a;
    RowSum squares_b;
    for (std::uint32_t i = 0; i < width; ++i) {
        const float x = without_tiny(a[i]);
        const float y = without_tiny(b[i]);
        products.add(i, x * y);
        squares_a.add(i, x * x);
        squares_b.add(i, y * y);
    }
    const float lengths = square_root(squares_a.total()) * square_root(squares_b.total());
    if (!(lengths > 0.0f)) return 0.0f;
    const float cosine = without_tiny(products.total() / lengths);
    const float least = cosine < -1.0f ? -1.0f : cosine;
    return least > 1.0f ? 1.0f : least;
}

}  // namespace

float cosine_similarity(const float* a, const float* b, std::uint32_t width) noexcept {
    const FloatMode mode;
    return cosine(a, b, width);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
