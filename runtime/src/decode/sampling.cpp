// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/sampling.hpp"

#include <limits>

#include "../kernels/kernel_set.hpp"
#include "../kernels/polynomials.hpp"
#include "../kernels/scalar/math.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr float kExtreme = 1024.0f;  // of a temperature, or 1 / it
constexpr float kUnit = 0x1p40f;     // the weight of the likeliest token

// Of a power that is not below 0. Of what is none, as logits that are no numbers leave it, 0.
std::uint64_t weight_of(float power) noexcept {
    return power <= 1.0f ? static_cast<std::uint64_t>(power * kUnit) : 0;
}

// floor(a * b / 2^64).
std::uint64_t high_product(std::uint64_t a, std::uint64_t b) noexcept {
    const std::uint64_t a_low = a & 0xFFFFFFFF;
    const std::uint64_t b_low = b & 0xFFFFFFFF;
    const std::uint64_t a_high = a >> 32;
    const std::uint64_t b_high = b >> 32;
    const std::uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
    return a_high * b_high + (middle >> 32) + (((middle & 0xFFFFFFFF) + a_low * b_high) >> 32);
}

// The lowest power such that those above it count for less than `limit` together, 0 where all do; `count` is what one
// counts for. Found digit by digit: powers are at most 1, and positive floats have the order of their bits.
template <class Count>
float lowest_power(const float* powers, std::uint32_t n, std::uint64_t limit, Count count) noexcept {
    constexpr std::uint32_t kDigit = 6;
    constexpr std::uint32_t kDigits = 5;
    std::uint32_t found = 0;
    std::uint64_t above = 0;
    for (std::uint32_t shift = kDigit * (kDigits - 1);; shift -= kDigit) {
        std::uint64_t of_digit[1U << kDigit] = {};
        for (std::uint32_t i = 0; i < n; ++i) {
            const std::uint32_t bits = scalar::bits_of(powers[i]) >> shift;
            if (bits >> kDigit == found) of_digit[bits & ((1U << kDigit) - 1)] += count(powers[i]);
        }
        std::uint32_t digit = (1U << kDigit) - 1;
        for (; digit > 0 && above + of_digit[digit] < limit; --digit)
            above += of_digit[digit];
        found = found << kDigit | digit;
        if (shift == 0) return scalar::from_bits(found);
    }
}

std::uint64_t weight_from(const float* powers, std::uint32_t n, float least) noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < n; ++i)
        if (powers[i] >= least) sum += weight_of(powers[i]);
    return sum;
}

// The least power of what may be drawn.
float least_of(const Sampling& sampling, const float* powers, std::uint32_t n) noexcept {
    float least = 0.0f;
    if (sampling.top_k != 0 && sampling.top_k < n)
        least = lowest_power(powers, n, sampling.top_k, [](float) { return 1U; });
    if (sampling.top_p < 1.0f) {
        const auto part = static_cast<std::uint64_t>(sampling.top_p * 0x1p64f);
        const std::uint64_t limit = high_product(weight_from(powers, n, least), part);
        const float behind = lowest_power(powers, n, limit == 0 ? 1 : limit, weight_of);
        least = behind > least ? behind : least;
    }
    return least;
}

}  // namespace

Status check_sampling(const Sampling& sampling) noexcept {
    const float temperature = sampling.temperature;
    const bool in_range = temperature >= 1.0f / kExtreme && temperature <= kExtreme;
    const bool has_part = sampling.top_p > 0.0f && sampling.top_p <= 1.0f;
    return (temperature == 0.0f || in_range) && has_part ? Status::ok : Status::sampling_out_of_range;
}

RandomWords philox(RandomWords counter, std::uint64_t key) noexcept {
    constexpr std::uint64_t kFirst = 0xD2511F53;
    constexpr std::uint64_t kSecond = 0xCD9E8D57;
    auto low = static_cast<std::uint32_t>(key);
    auto high = static_cast<std::uint32_t>(key >> 32);
    std::uint32_t(&c)[4] = counter.words;
    for (int round = 0; round < 10; ++round) {
        const std::uint64_t first = kFirst * c[0];
        const std::uint64_t second = kSecond * c[2];
        c[0] = static_cast<std::uint32_t>(second >> 32) ^ c[1] ^ low;
        c[2] = static_cast<std::uint32_t>(first >> 32) ^ c[3] ^ high;
        c[1] = static_cast<std::uint32_t>(second);
        c[3] = static_cast<std::uint32_t>(first);
        low += 0x9E3779B9;
        high += 0xBB67AE85;
    }
    return counter;
}

std::uint64_t random_bits(const Sampling& sampling, std::uint32_t written) noexcept {
    const RandomWords random = philox({{written, sampling.text, 0, 0}}, sampling.seed);
    return std::uint64_t{random.words[1]} << 32 | random.words[0];
}

void DrawnToken::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    if (first == last) return;
    const float scale = polynomials::kLog2E / sampling.temperature;
    for (std::uint32_t i = 0; i < vocabulary; ++i)
        logits[i] = logits[i] * scale;
    context.kernels.exp2_row(logits, vocabulary);
    const float* const powers = logits;
    const float least = least_of(sampling, powers, vocabulary);
    const std::uint64_t whole = weight_from(powers, vocabulary, least);
    if (whole == 0) {
        *token = 0;
        *log_probability = -std::numeric_limits<float>::infinity();
        return;
    }
    const std::uint64_t place = high_product(whole, random_bits(sampling, written));
    std::uint64_t sum = 0;
    std::uint64_t weight = 0;
    std::uint32_t id = 0;
    for (;; ++id) {
        weight = powers[id] >= least ? weight_of(powers[id]) : 0;
        sum += weight;
        if (sum > place) break;
    }
    *token = static_cast<std::int32_t>(id);
    *log_probability = -(scalar::log2(static_cast<float>(whole) / static_cast<float>(weight)) * polynomials::kLn2);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
