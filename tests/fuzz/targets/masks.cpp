// SPDX-License-Identifier: Apache-2.0
// Any logits below the bound that the generator keeps, in blocks of any size: the best entries are there once each, the
// likeliest first by their logits (of equal ones the first entry), and nothing is written past the capacity.
// Probabilities follow the logits but for the last bits: exp2 of two neighbours need not go up.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "etch/decode/candidates.hpp"
#include "etch/kernels.hpp"
#include "fuzz.hpp"

using namespace etch;

namespace {

// Whether entry `a` goes before entry `b`: by what powers are taken of, logit * log2(e) in float32.
bool is_before(const std::vector<float>& logits, float a, float b) {
    constexpr float kLog2E = 0x1.715476p0f;
    const float of_a = logits[static_cast<std::size_t>(a)] * kLog2E;
    const float of_b = logits[static_cast<std::size_t>(b)] * kLog2E;
    return of_a > of_b || (of_a == of_b && a < b);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 4) return 0;
    const std::uint32_t capacity = data[0] % 4;
    const std::uint32_t top = data[1] % 8;
    std::vector<float> logits((size - 3) / sizeof(float));
    if (logits.empty()) return 0;
    std::memcpy(logits.data(), data + 3, logits.size() * sizeof(float));
    for (float& logit : logits)
        if (!(std::fabs(logit) < 0x1p50f)) logit = 0.0f;
    const std::vector<float> given = logits;  // KeepBest overwrites them
    const auto entries = static_cast<std::uint32_t>(logits.size());
    const std::uint32_t k = 1 + data[2] % (entries < 5 ? entries : 5);
    const std::uint32_t block = k + data[2] / 8;
    std::vector<float> sums(2);
    std::vector<float> row(2 * k);
    const F32Rows best{row.data(), 2 * k};
    for (const RowBlock part : RowBlocks(entries, block)) {
        const bool last = part.first + part.count == entries;
        const F32Rows of_part{logits.data() + part.first, part.count};
        InlineRunner{OpContext{*best_kernels(kRowsKernels), nullptr}}(
            KeepBest{1, part, last, of_part, {sums.data(), 2}, best});
    }
    float sum = 0.0f;
    for (std::uint32_t i = 0; i < k; ++i) {
        fuzz::check(row[i] >= 0.0f && row[i] < static_cast<float>(entries), "an entry that is none");
        fuzz::check(row[k + i] >= 0.0f, "a probability below 0");
        fuzz::check(i == 0 || is_before(given, row[i - 1], row[i]), "not the likeliest first");
        fuzz::check(i == 0 || row[k + i] <= row[k + i - 1] * (1.0f + 0x1p-21f), "probabilities that go up");
        for (std::uint32_t j = 0; j < i; ++j)
            fuzz::check(row[i] != row[j], "an entry twice");
        sum += row[k + i];
    }
    fuzz::check(sum < 1.001f && row[k] > 0.0f, "no probabilities");
    std::vector<Candidate> candidates(std::size_t{capacity} * top);  // exactly: the sanitizer sees a write behind it
    fuzz::check(copy_candidates(best, 1, candidates.data(), capacity, top) == (top < k ? top : k), "how many of a row");
    return 0;
}
