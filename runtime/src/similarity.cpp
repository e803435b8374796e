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

// The weights of a text from the smallest id to the largest, whatever their order.
class ById {
  public:
    ById(const TokenWeight* weights, std::uint32_t count) noexcept : weights_(weights), count_(count) {
        for (std::uint32_t i = 1; i < count; ++i)
            sorted_ = sorted_ && weights[i - 1].id < weights[i].id;
        place_ = sorted_ ? 0 : smallest_above(-1);
    }

    bool has_one() const noexcept { return place_ < count_; }
    const TokenWeight& operator*() const noexcept { return weights_[place_]; }
    void advance() noexcept { place_ = sorted_ ? place_ + 1 : smallest_above(weights_[place_].id); }

  private:
    std::uint32_t smallest_above(std::int32_t last) const noexcept {
        std::uint32_t found = count_;
        for (std::uint32_t i = 0; i < count_; ++i) {
            if (weights_[i].id > last && (found == count_ || weights_[i].id < weights_[found].id)) found = i;
        }
        return found;
    }

    const TokenWeight* weights_;
    std::uint32_t count_;
    std::uint32_t place_;
    bool sorted_ = true;
};

[[gnu::noinline]] float products(const TokenWeight* a, std::uint32_t a_count, const TokenWeight* b,
                                 std::uint32_t b_count) noexcept {
    float sum = 0.0f;
    ById of_a{a, a_count};
    ById of_b{b, b_count};
    while (of_a.has_one() && of_b.has_one()) {
        const TokenWeight first = *of_a;
        const TokenWeight second = *of_b;
        if (first.id == second.id) sum = sum + without_tiny(first.weight) * without_tiny(second.weight);
        if (first.id <= second.id) of_a.advance();
        if (second.id <= first.id) of_b.advance();
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
