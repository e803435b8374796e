// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/clamped_gate.hpp"

#include "../kernels/kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr std::uint32_t kValues = 64;  // of a row, whose sigmoids are kept at once

float least(float x, float y) noexcept {
    return x < y ? x : y;
}

}  // namespace

void ClampedGate::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    float sigmoids[kValues];
    for (std::uint32_t row = first; row < last; ++row) {
        for (std::uint32_t begin = 0; begin < out.width; begin += kValues) {
            const float* const x = a.from(row).data + begin;
            const float* const y = b.from(row).data + begin;
            float* const to = out.from(row).data + begin;
            const std::uint32_t n = out.width - begin < kValues ? out.width - begin : kValues;
            for (std::uint32_t i = 0; i < n; ++i)
                sigmoids[i] = least(x[i], limit) * alpha;
            context.kernels.activate_row(Activation::sigmoid, sigmoids, n);
            for (std::uint32_t i = 0; i < n; ++i) {
                const float factor = least(y[i] > -limit ? y[i] : -limit, limit) + 1.0f;
                to[i] = factor * (least(x[i], limit) * sigmoids[i]);
            }
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
