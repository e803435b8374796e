// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/fourier_rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr std::uint32_t kColumns = 16;  // of a row that are summed together
constexpr std::uint32_t kTerms = 5;

constexpr float kHalfPi = 0x1.921fb6p0f;
// Taylor's coefficients of sin(a) / a and cos(a) in a * a. Up to an eighth of a turn the largest errors of both are
// below 1e-7; exactly 0 and 1 at 0.
constexpr float kSine[kTerms] = {1.0f, -1.0f / 6.0f, 1.0f / 120.0f, -1.0f / 5040.0f, 1.0f / 362880.0f};
constexpr float kCosine[kTerms] = {1.0f, -1.0f / 2.0f, 1.0f / 24.0f, -1.0f / 720.0f, 1.0f / 40320.0f};

float horner(const float* coefficients, float x) noexcept {
    float r = coefficients[kTerms - 1];
    for (std::uint32_t i = kTerms - 1; i > 0; --i)
        r = (r * x) + coefficients[i - 1];
    return r;
}

// Cosines and sines [count] of 2 pi i / count: angles up to an eighth of a turn are computed, the others have the
// values of these in another order, or with another sign.
void write_turns(std::uint32_t count, float* cosines, float* sines) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t quarter = 4 * i / count;
        const std::uint32_t rest = 4 * i % count;
        const bool beyond = 2 * rest > count;  // an eighth
        const float angle = (static_cast<float>(beyond ? count - rest : rest) / static_cast<float>(count)) * kHalfPi;
        const float square = angle * angle;
        const float first = angle * horner(kSine, square);
        const float second = horner(kCosine, square);
        const float sine = beyond ? second : first;
        const float cosine = beyond ? first : second;
        cosines[i] = quarter == 0 ? cosine : quarter == 1 ? -sine : quarter == 2 ? -cosine : sine;
        sines[i] = quarter == 0 ? sine : quarter == 1 ? cosine : quarter == 2 ? -sine : -cosine;
    }
}

// Some columns of one row, of the sums with cosines and those with sines.
struct Sums {
    float even[kColumns];
    float odd[kColumns];
};

}  // namespace

void FourierRows::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    float* const cosines = reinterpret_cast<float*>(context.scratch);
    const std::uint32_t waves = input.width / 2;
    for (const TextPart part : TextParts(texts, {block.first + first, last - first})) {
        const std::uint32_t count = part.text.count;
        float* const sines = cosines + count;
        write_turns(count, cosines, sines);
        for (std::uint32_t row = 0; row < part.count; ++row) {
            const std::uint32_t number = part.token + row;
            float* const to = out.from(first + part.row + row).data;
            for (std::uint32_t begin = 0; begin < waves; begin += kColumns) {
                const std::uint32_t columns = waves - begin < kColumns ? waves - begin : kColumns;
                Sums sums = {};
                std::uint32_t turn = 0;  // number * m, in whole turns
                for (std::uint32_t m = 0; m < count; ++m) {
                    const float* const x = input.from(part.text.place + m).data + begin;
                    for (std::uint32_t k = 0; k < columns; ++k) {
                        sums.even[k] = sums.even[k] + (cosines[turn] * x[k]);
                        sums.odd[k] = sums.odd[k] + (sines[turn] * x[waves + k]);
                    }
                    turn += number;
                    if (turn >= count) turn -= count;
                }
                for (std::uint32_t k = 0; k < columns; ++k) {
                    const std::uint32_t column = begin + k;
                    to[column] = sums.even[k] - sums.odd[k];
                    if (column > 0 && out.width - column >= waves) to[out.width - column] = sums.even[k] + sums.odd[k];
                }
            }
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
