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

float product(const float* a, const float* b, std::uint32_t width) noexcept {
    RowSum products;
    for (std::uint32_t i = 0; i < width; ++i)
        products.add(i, without_tiny(a[i]) * without_tiny(b[i]));
    return products.total();
}

// Not inlined: FloatMode wants it so.
[[gnu::noinline]] float cosine(const float* a, const float* b, std::uint32_t width) noexcept {
    const float lengths = square_root(product(a, a, width)) * square_root(product(b, b, width));
    if (!(lengths > 0.0f)) return 0.0f;
    const float cosine = without_tiny(product(a, b, width) / lengths);
    const float least = cosine < -1.0f ? -1.0f : cosine;
    return least > 1.0f ? 1.0f : least;
}

// That of the smallest id above `last`; `count` where there is none.
std::uint32_t next_id(const TokenWeight* weights, std::uint32_t count, std::int32_t last) noexcept {
    std::uint32_t found = count;
    for (std::uint32_t i = 0; i < count; ++i) {
        if (weights[i].id > last && (found == count || weights[i].id < weights[found].id)) found = i;
    }
    return found;
}

[[gnu::noinline]] float products(const TokenWeight* a, std::uint32_t a_count, const TokenWeight* b,
                                 std::uint32_t b_count) noexcept {
    float sum = 0.0f;
    std::uint32_t i = next_id(a, a_count, -1);
    std::uint32_t j = next_id(b, b_count, -1);
    while (i < a_count && j < b_count) {
        const std::int32_t of_a = a[i].id;
        const std::int32_t of_b = b[j].id;
        if (of_a == of_b) sum = sum + without_tiny(a[i].weight) * without_tiny(b[j].weight);
        if (of_a <= of_b) i = next_id(a, a_count, of_a);
        if (of_b <= of_a) j = next_id(b, b_count, of_b);
    }
    return sum;
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

float dot_product(const TokenWeight* a, std::uint32_t a_count, const TokenWeight* b, std::uint32_t b_count) noexcept {
    const FloatMode mode;
    return products(a, a_count, b, b_count);
}

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
