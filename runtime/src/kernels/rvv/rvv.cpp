// SPDX-License-Identifier: Apache-2.0
// The set of RISC-V's vectors, version 1.0, registers of 128 bits or more: Packing::panel, no fused multiply-add.
// Everything here but the set itself has internal linkage: the linker must never take a function from here for code
// that runs on an older CPU.
#include "../sets.hpp"

#if defined(ETCH_HAS_RVV)

#include <riscv_vector.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "../call_count.hpp"
#include "../compiler.hpp"
#include "../kernel_set.hpp"
#include "../polynomials.hpp"
#include "../scalar/quantization.hpp"

// From here on everything is compiled for vectors, whatever the command line says; in an order that suits CPUs that
// keep it, too. Without a CPU to tune for, the operations of a row would stand one behind the other.
#pragma clang attribute push(__attribute__((target("arch=+v;tune=sifive-p670"))), apply_to = function)

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace rvv {
namespace {

constexpr CountedSet kCounted = kCountRvv;
constexpr unsigned kRowsF32 = 6;
constexpr unsigned kVectorBytes = 64;

// Each needs those before it.
// clang-format off
#include "vectors.inl"
#include "../vector/floats.inl"
#include "../vector/first_lanes.inl"
#include "bytes.inl"
#include "../vector/lanes.inl"
#include "../vector/activation.inl"
#include "../vector/repeated.inl"
#include "../vector/tiles.inl"
#include "matmul_s8.inl"
#include "../vector/matmul_panels.inl"
#include "../vector/matmul_f32.inl"
#include "../vector/encoding.inl"
#include "../vector/rows.inl"
#include "../vector/expand_s4.inl"
// clang-format on

}  // namespace
}  // namespace rvv

constexpr KernelSet kRvv = {
    "rvv",
    Packing::panel,
    rvv::kEncodedBytes,
    rvv_usable,
    rvv::matmul_s8,
    rvv::matmul_f32,
    rvv::quantize_row,
    rvv::quantize_row_s8,
    rvv::layer_norm_row,
    rvv::rms_norm_row,
    rvv::exp2_row,
    rvv::exp2_sum,
    rvv::largest_value,
    rvv::quantize_probabilities,
    rvv::activate_row,
    rvv::expand_s4,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#pragma clang attribute pop

#endif
