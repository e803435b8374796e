// SPDX-License-Identifier: Apache-2.0
// What the tests of masks and biases share: sizes, random rows, and what attention is in doubles.
#pragma once

#include <functional>

#include "heads.hpp"

namespace etch::testing {

struct Sizes {
    std::uint32_t heads;
    std::uint32_t key_heads;
    std::uint32_t head_width;
    std::uint32_t max_tokens;
};

struct Rows {
    std::vector<float> query;  // [rows of queries][heads * head_width]
    std::vector<float> key;    // [rows of keys][key_heads * head_width]
    std::vector<float> value;
};

inline Rows random_rows(const Sizes& sizes, std::uint32_t queries, std::uint32_t keys) {
    const std::uint32_t width = sizes.key_heads * sizes.head_width;
    return {Random(1).floats(queries * sizes.heads * sizes.head_width, 2.0f), Random(2).floats(keys * width, 2.0f),
            Random(3).floats(keys * width)};
}

inline float score_scale(const Sizes& sizes) {
    return static_cast<float>(std::log2(std::exp(1.0)) / std::sqrt(1.0 * sizes.head_width));
}

// What a cap leaves of a value, in doubles.
inline double capped(double value, double limit) {
    return limit * std::tanh(value / limit);
}

// By (head, query position, key position), what is added to a score; NAN where the key is not seen.
using Added = std::function<double(std::uint32_t, std::uint32_t, std::uint32_t)>;

// `sinks` are of each head what takes part in the sum and has no value, times log2(e); null: nothing.
inline std::vector<double> exact(const Sizes& sizes, const Rows& rows, std::uint32_t position, std::uint32_t keys,
                                 const Added& added, double limit = 1e30, const double* sinks = nullptr) {
    const std::uint32_t d = sizes.head_width;
    const std::size_t width = std::size_t{sizes.heads} * d;
    const std::size_t key_width = std::size_t{sizes.key_heads} * d;
    std::vector<double> out(rows.query.size());
    for (std::uint32_t row = 0; row < rows.query.size() / width; ++row) {
        for (std::uint32_t head = 0; head < sizes.heads; ++head) {
            const std::size_t of_key = head / (sizes.heads / sizes.key_heads) * d;
            double sum = sinks == nullptr ? 0 : std::exp2(sinks[head]);
            std::vector<double> mixed(d);
            for (std::uint32_t j = 0; j < keys; ++j) {
                const double more = added(head, position + row, j);
                if (std::isnan(more)) continue;
                double dot = 0;
                for (std::uint32_t i = 0; i < d; ++i)
                    dot += double{rows.query[row * width + head * d + i]} * rows.key[j * key_width + of_key + i];
                const double t = dot * std::log2(std::exp(1.0)) / std::sqrt(1.0 * d);
                const double e = std::exp2(capped(t, limit) + more);
                sum += e;
                for (std::uint32_t i = 0; i < d; ++i)
                    mixed[i] += e * rows.value[j * key_width + of_key + i];
            }
            for (std::uint32_t i = 0; i < d; ++i)
                out[row * width + head * d + i] = mixed[i] / sum;
        }
    }
    return out;
}

template <class Heads>
inline constexpr double kTolerance = std::is_same_v<Heads, S8Heads> ? 0.05 : 3e-6;

inline void expect_near(const std::vector<float>& got, const std::vector<double>& want, double tolerance) {
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
        ASSERT_NEAR(got[i], want[i], tolerance) << i;
}

inline const Sizes kSizes[] = {{2, 2, 32, 40}, {4, 2, 16, 64}, {3, 1, 20, 50}, {1, 1, 5, 33}};
inline const std::uint32_t kTokens[] = {1, 7, 16, 33};

}  // namespace etch::testing
