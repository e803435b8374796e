// SPDX-License-Identifier: Apache-2.0
// The inner loops of avx2's integer products without what surrounds them: for 3 rows and 16 columns all loads,
// broadcasts and vector operations of a turn, of the same few bytes every time (runtime/src/kernels/avx2/tile_s8.inl).
// Only where the CPU has AVX2.
#pragma once

#include <cstdint>

namespace etch::bench {

// A turn is of 8 k, four products of a lane added in 16 bits: 4 weights shifted, 6 broadcasts, for each of 6 sums 2
// vpmaddubsw, vpaddw, vpmaddwd and vpaddd.
void multiply_paired_tiles(std::uint64_t turns);
constexpr unsigned kPairedTileMacs = 3 * 16 * 8;

// Of 4 k, two added: 2 weights shifted, 3 broadcasts, for each sum vpmaddubsw, vpmaddwd and vpaddd.
void multiply_single_tiles(std::uint64_t turns);
constexpr unsigned kSingleTileMacs = 3 * 16 * 4;

// Of 4 k: 2 weights loaded, 3 broadcasts with vpcmpgtb and vpabsb, for each sum also vpxor.
void multiply_signed_tiles(std::uint64_t turns);
constexpr unsigned kSignedTileMacs = 3 * 16 * 4;

}  // namespace etch::bench
