// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "etch/decode/token_weights.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Cosine of the angle between two vectors, in [-1, 1]; 0 where one of them is zero. Values are finite and at most 2^50
// in magnitude; those below 2^-40 count as 0. The same bits everywhere:
// sum(a * b) / (sqrt(sum(a * a)) * sqrt(sum(b * b))) with the sums along a row of the arithmetic contract.
float cosine_similarity(const float* a, const float* b, std::uint32_t width) noexcept;

// Of the embeddings of two results of a model that has an embed().
template <class Result>
float cosine_similarity(const Result& a, const Result& b) noexcept {
    return cosine_similarity(a.embedding, b.embedding, sizeof a.embedding / sizeof *a.embedding);
}

// The sum, by ascending id, of the products of what both weigh, whatever the order of the lists: an id of at least 0
// stands in each once. A list that sort_by_id() has put in order is gone through once, in another each id of its own is
// looked for in all of it: count^2 comparisons.
float dot_product(const TokenWeight* a, std::uint32_t a_count, const TokenWeight* b, std::uint32_t b_count) noexcept;

// Of what two results of a model that has an embed_sparse() had room for.
template <class Result>
float dot_product(const Result& a, const Result& b) noexcept {
    return dot_product(a.weights, a.count < a.capacity ? a.count : a.capacity, b.weights,
                       b.count < b.capacity ? b.count : b.capacity);
}

// How well a document answers a query, each of them so many vectors of `width` floats, one behind the other: the sum
// over the query's vectors of the largest product with any of the document's; kNoDocument where the document has none.
// Values are finite, and so small that no sum of products passes 2^100; those below 2^-40 count as 0. The same bits
// everywhere: products by sums along a row of the arithmetic contract, maxima added one after the other.
inline constexpr float kNoDocument = -1e9f;  // below all that vectors of the length 1 give
float max_sim(const float* query, std::uint32_t query_count, const float* document, std::uint32_t document_count,
              std::uint32_t width) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
