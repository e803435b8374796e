// SPDX-License-Identifier: Apache-2.0
// Layouts of weight tables. codegen/pack.py writes them, the kernels read them in place, and the packers of keys and
// values write them at run time. Shared by generated code (static_asserts, buffer sizes) and the runtime.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// A weight matrix has n outputs of k inputs each. Padding is zero.
enum class Packing : std::uint8_t {
    panel,  // s8 [n/16][k/4][16][4], f32 [n/16][k][16]: x86, AArch64, AMX
    rows,   // s8 [n][k], k padded to 16; f32 [n][k]: Cortex-M
};

inline constexpr std::uint32_t kPanelWidth = 16;        // outputs per panel, and per unit of a linear in both packings
inline constexpr std::uint32_t kEncodedPadding = 16;    // values: rows of quantized activations are padded to this
inline constexpr std::uint32_t kEncodedAlignment = 16;  // bytes

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) noexcept {
    return (value + multiple - 1) / multiple * multiple;
}

// Bytes of a packed s8 matrix.
constexpr std::size_t packed_s8_bytes(Packing packing, std::size_t n, std::size_t k) noexcept {
    return packing == Packing::panel ? round_up(n, kPanelWidth) * round_up(k, 4) : n * round_up(k, 16);
}

// Elements of a packed f32 matrix.
constexpr std::size_t packed_f32_elements(Packing packing, std::size_t n, std::size_t k) noexcept {
    return packing == Packing::panel ? round_up(n, kPanelWidth) * k : n * k;
}

// Index of weight [n_index][k_index] in a packed s8 matrix of k inputs.
constexpr std::size_t packed_s8_index(Packing packing, std::size_t n_index, std::size_t k_index,
                                      std::size_t k) noexcept {
    return packing == Packing::panel
               ? n_index / 16 * round_up(k, 4) * 16 + k_index / 4 * 64 + n_index % 16 * 4 + k_index % 4
               : n_index * round_up(k, 16) + k_index;
}

constexpr std::size_t packed_f32_index(Packing packing, std::size_t n_index, std::size_t k_index,
                                       std::size_t k) noexcept {
    return packing == Packing::panel ? n_index / 16 * k * 16 + k_index * 16 + n_index % 16 : n_index * k + k_index;
}

// The widest encoding of a quantized activation among the kernel sets that read `packing`: what arenas are planned for.
constexpr std::size_t max_encoded_bytes_per_value(Packing packing) noexcept {
    return packing == Packing::panel ? 2 : 1;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
