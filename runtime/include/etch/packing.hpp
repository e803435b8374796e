// SPDX-License-Identifier: Apache-2.0
// Layouts of weight tables. codegen/pack/layouts.py writes them, the kernels read them in place, and the packers of
// keys and values write them at run time. Shared by generated code (static_asserts, buffer sizes) and the runtime.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/alignment.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// A weight matrix has n outputs of k inputs each. Padding is zero.
enum class Packing : std::uint8_t {
    panel,  // s8 [n/16][k/4][16][4], f32 [n/16][k][16]: x86, AArch64, AMX
    rows,   // s8 [n][k], k padded to 16; f32 [n][k]: Cortex-M
};

inline constexpr std::uint32_t kPanelWidth = 16;       // outputs per panel, and per unit of a linear in both packings
inline constexpr std::uint32_t kPanelInputs = 4;       // of an output side by side: vpdpbusd, sdot multiply so many
inline constexpr std::uint32_t kEncodedPadding = 16;   // values: rows of quantized activations are padded to this
inline constexpr std::uint32_t kPackedAlignment = 16;  // bytes: no vector of 16 lies in two cache lines

// Bytes of a packed s8 matrix.
constexpr std::size_t packed_s8_bytes(Packing packing, std::size_t n, std::size_t k) noexcept {
    return packing == Packing::panel ? round_up(n, kPanelWidth) * round_up(k, kPanelInputs)
                                     : n * round_up(k, kEncodedPadding);
}

// Elements of a packed f32 matrix.
constexpr std::size_t packed_f32_elements(Packing packing, std::size_t n, std::size_t k) noexcept {
    return packing == Packing::panel ? round_up(n, kPanelWidth) * k : n * k;
}

// Index of weight [n_index][k_index] in a packed s8 matrix of k inputs.
constexpr std::size_t packed_s8_index(Packing packing, std::size_t n_index, std::size_t k_index,
                                      std::size_t k) noexcept {
    return packing == Packing::panel
               ? (n_index / kPanelWidth * round_up(k, kPanelInputs) + k_index / kPanelInputs * kPanelInputs) *
                         kPanelWidth +
                     n_index % kPanelWidth * kPanelInputs + k_index % kPanelInputs
               : n_index * round_up(k, kEncodedPadding) + k_index;
}

constexpr std::size_t packed_f32_index(Packing packing, std::size_t n_index, std::size_t k_index,
                                       std::size_t k) noexcept {
    return packing == Packing::panel ? (n_index / kPanelWidth * k + k_index) * kPanelWidth + n_index % kPanelWidth
                                     : n_index * k + k_index;
}

// Weights of 4 bits stand for s8 weights: w = q * factor, q in [-8, 7], one factor in [1, 127] for each group of
// kS4Group neighbouring k of an output, |w| <= 127. Two to a byte, so that mask and shift of a vector give two whole
// vectors:
//     panel  q [n/16][k/8][16][4], low nibble k, high nibble k + 4; factors [n/16][k/32][16]
//     rows   q [n][k/32][16], low nibble k, high nibble k + 16; factors [n][k/32]
inline constexpr std::uint32_t kS4Group = 32;

// Bytes of n outputs, or where output n begins: a whole panel's first in Packing::panel.
constexpr std::size_t packed_s4_bytes(Packing packing, std::size_t n, std::size_t k) noexcept {
    return packing == Packing::panel ? round_up(n, kPanelWidth) * round_up(k, 2 * kPanelInputs) / 2
                                     : n * round_up(k, kS4Group) / 2;
}
constexpr std::size_t packed_s4_factors(Packing packing, std::size_t n, std::size_t k) noexcept {
    return (packing == Packing::panel ? round_up(n, kPanelWidth) : n) * (round_up(k, kS4Group) / kS4Group);
}

// Index of the byte that holds weight [n_index][k_index], and whether in its high nibble.
constexpr std::size_t packed_s4_index(Packing packing, std::size_t n_index, std::size_t k_index,
                                      std::size_t k) noexcept {
    return packing == Packing::panel
               ? (n_index / kPanelWidth * round_up(k, 2 * kPanelInputs) / 2 +
                  k_index / (2 * kPanelInputs) * kPanelInputs) *
                         kPanelWidth +
                     n_index % kPanelWidth * kPanelInputs + k_index % kPanelInputs
               : n_index * round_up(k, kS4Group) / 2 + k_index / kS4Group * (kS4Group / 2) + k_index % (kS4Group / 2);
}
constexpr bool packed_s4_high(Packing packing, std::size_t k_index) noexcept {
    return packing == Packing::panel ? k_index % (2 * kPanelInputs) >= kPanelInputs
                                     : k_index % kS4Group >= kS4Group / 2;
}
// The number in [-8, 7] of that nibble.
constexpr int s4_value(std::int8_t byte, bool high) noexcept {
    return high ? byte >> 4 : static_cast<std::int8_t>(static_cast<std::uint8_t>(byte) << 4) >> 4;
}
constexpr std::size_t packed_s4_factor_index(Packing packing, std::size_t n_index, std::size_t k_index,
                                             std::size_t k) noexcept {
    const std::size_t groups = round_up(k, kS4Group) / kS4Group;
    return packing == Packing::panel
               ? (n_index / kPanelWidth * groups + k_index / kS4Group) * kPanelWidth + n_index % kPanelWidth
               : n_index * groups + k_index / kS4Group;
}

// Outputs that a linear expands to s8 at a time, into a worker's scratch, and their bytes there.
constexpr std::uint32_t expanded_outputs(Packing packing) noexcept {
    return packing == Packing::panel ? 4 * kPanelWidth : kPanelWidth;
}
constexpr std::size_t expanded_bytes(Packing packing, std::size_t k) noexcept {
    return packed_s8_bytes(packing, expanded_outputs(packing), k);
}

// The most that a row of quantized activations takes for a value, its encoding and what lies beside it, among the
// kernel sets that read `packing`: what arenas are planned for.
constexpr std::size_t max_encoded_row_bytes_per_value(Packing packing) noexcept {
    return packing == Packing::panel ? 2 : 1;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
