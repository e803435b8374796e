// SPDX-License-Identifier: Apache-2.0
#include "correlation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace etch::cli {
namespace {

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

bool varies(const std::vector<double>& values) {
    return std::any_of(values.begin(), values.end(), [&](double value) { return value != values[0]; });
}

bool all_finite(const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<double> out(values.size());
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        while (end < order.size() && values[order[end]] == values[order[begin]]) {
            ++end;
        }
        for (std::size_t i = begin; i < end; ++i) {
            out[order[i]] = static_cast<double>(begin + end - 1) / 2;
        }
    }
    return out;
}

}  // namespace

std::optional<double> pearson(const std::vector<double>& a, const std::vector<double>& b) {
    // Asked before any sum is made: the differences to a rounded mean are not all 0 where the values are equal.
    if (!varies(a) || !varies(b)) {
        return std::nullopt;
    }
    const double mean_a = mean(a);
    const double mean_b = mean(b);
    double aa = 0;
    double bb = 0;
    double ab = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        aa += (a[i] - mean_a) * (a[i] - mean_a);
        bb += (b[i] - mean_b) * (b[i] - mean_b);
        ab += (a[i] - mean_a) * (b[i] - mean_b);
    }
    const double both = std::sqrt(aa) * std::sqrt(bb);
    // 0 or infinite where the values are too small or too large to be squared.
    return both > 0 && std::isfinite(both) ? std::optional(std::clamp(ab / both, -1.0, 1.0)) : std::nullopt;
}

std::optional<double> spearman(const std::vector<double>& a, const std::vector<double>& b) {
    if (!all_finite(a) || !all_finite(b)) {
        return std::nullopt;  // what is not a number has no rank
    }
    return pearson(ranks(a), ranks(b));
}

std::optional<double> mean_squared_error(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.empty()) {
        return std::nullopt;
    }
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    }
    return sum / static_cast<double>(a.size());
}

}  // namespace etch::cli
