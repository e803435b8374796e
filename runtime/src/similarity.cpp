// SPDX-License-Identifier: Apache-2.0
#include "etch/similarity.hpp"

#include <cstddef>

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

float product(const float* a, const float* b, std::uint32_t width) noexcept {
    RowSum products;
    for (std::uint32_t i = 0; i < width; ++i)
        products.add(i, without_tiny(a[i]) * without_tiny(b[i]));
    return products.total();
}

[[gnu::noinline]] float sum_of_maxima(const float* query, std::uint32_t query_count, const float* document,
                                      std::uint32_t document_count, std::uint32_t width) noexcept {
    if (document_count == 0) return kNoDocument;
    float sum = 0.0f;
    for (std::uint32_t q = 0; q < query_count; ++q) {
        const float* const row = query + std::size_t{q} * width;
        float largest = product(row, document, width);
        for (std::uint32_t d = 1; d < document_count; ++d) {
            const float found = product(row, document + std::size_t{d} * width, width);
            largest = found > largest ? found : largest;
        }
        sum += largest;
    }
    return sum;
}

}  // namespace

float cosine_similarity(const float* a, const float* b, std::uint32_t width) noexcept {
    const FloatMode mode;
    return cosine(a, b, width);
}

float max_sim(const float* query, std::uint32_t query_count, const float* document, std::uint32_t document_count,
              std::uint32_t width) noexcept {
    const FloatMode mode;
    return sum_of_maxima(query, query_count, document, document_count, width);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
