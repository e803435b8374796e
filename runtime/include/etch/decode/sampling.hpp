// SPDX-License-Identifier: Apache-2.0
// A token that is drawn: temperature, the likeliest ones, and a random number that depends on nothing but its place.
//
// Of the logits that may be written t = logit * (log2(e) / temperature), and the power of a token is exp2(t - largest
// t). Its weight is the integer floor(power * 2^40), so that weights add up to the same number in any order, and a
// token of less than 2^-40 of the likeliest one's probability is never drawn. Left are
//     top_k    tokens with at least the power of the top_k-th largest; of equals all
//     top_p    of these, those above which the others have less than top_p of their weight together; of equals all
// as TopKLogitsWarper and TopPLogitsWarper of transformers 5 have it, in their order behind the temperature. Of what is
// left, in the order of ids, the token is drawn in which floor(W * r / 2^64) falls, with W their weight and r 64 random
// bits: those of Philox4x32-10 (Salmon et al., Parallel Random Numbers: As Easy as 1, 2, 3, SC 2011) for the counter
// (tokens written before, text, 0, 0) and the seed as its key.
#pragma once

#include <cstdint>

#include "etch/ops/op.hpp"
#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// How tokens are drawn. The same one draws the same tokens on every machine.
struct Sampling {
    std::uint64_t seed = 0;
    std::uint32_t text =
        0;                  // of several with one seed a number of its own, so that they differ; in a batch the first's
    float temperature = 1;  // 0: nothing is drawn, the best token is written; else from 2^-10 to 2^10
    std::uint32_t top_k = 0;  // 0: as many as there are
    float top_p = 1;          // above 0, at most 1
};

inline constexpr Sampling kGreedy{0, 0, 0.0f, 0, 1.0f};

// Status::ok, or sampling_out_of_range.
Status check_sampling(const Sampling& sampling) noexcept;

struct RandomWords {
    std::uint32_t words[4];
};

// Philox4x32-10.
RandomWords philox(RandomWords counter, std::uint64_t key) noexcept;

// 64 random bits of a token.
std::uint64_t random_bits(const Sampling& sampling, std::uint32_t written) noexcept;

// Draws a token as above: those that may not be written have logits of at most -2^100. *log_probability = the logarithm
// of what it was drawn with, -(log2(W / weight) * ln(2)). Where none has weight, as with a logit that is infinite or no
// number, that is token 0 and minus infinity. One unit.
struct DrawnToken {
    const Sampling& sampling;  // temperature above 0
    std::uint32_t vocabulary;
    std::uint32_t written;  // tokens before it
    float* logits;          // [vocabulary]; overwritten
    std::int32_t* token;
    float* log_probability;

    std::uint32_t units() const noexcept { return 1; }
    std::uint64_t cost() const noexcept { return kPasses * kCostOfValue * vocabulary; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;

    static constexpr std::uint64_t kPasses = 14;  // over the vocabulary, at most
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
