// SPDX-License-Identifier: Apache-2.0
// The scalar kernels: plain C++, the specification. Their two sets differ in the packing of weights only. Activations
// are encoded as plain s8, one byte a value.
#pragma once

#include <cstdint>

#include "../kernel_set.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace scalar {

// Each as the KernelSet member of the same name says.
void matmul_s8_panel(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept;
void matmul_s8_rows(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept;
void matmul_f32_panel(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept;
void matmul_f32_rows(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept;
float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept;
float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept;
void layer_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
                    float inverse_n) noexcept;
void rms_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, float epsilon,
                  float inverse_n) noexcept;
float exp2_row(float* t, std::uint32_t n) noexcept;
float exp2_sum(const float* x, std::uint32_t n, float factor, float largest) noexcept;
float largest_value(const float* x, std::uint32_t n) noexcept;
float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept;
void activate_row(Activation activation, float* x, std::uint32_t n) noexcept;
void expand_s4_panel(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
                     std::int8_t* expanded) noexcept;
void expand_s4_rows(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
                    std::int8_t* expanded) noexcept;

// activate_row without counting: the epilogue of the matmuls.
void apply_activation(Activation activation, float* x, std::uint32_t n) noexcept;

}  // namespace scalar
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
