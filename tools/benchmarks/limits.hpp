// SPDX-License-Identifier: Apache-2.0
// What one core's vector units can do: a set's own sequence of operations for a product and its addition, on registers
// only, without a load or a dependency that would have to be waited for. Every operation counts that a product needs
// whatever the tile; those that a tile shares between products do not. Of avx2, whose few registers allow no larger
// tile, all operations and loads of a tile count (avx2_tiles.hpp).
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <string_view>

namespace etch::bench {

// s7: of weights of 7 bits, which a set has as a case of its own. s16: an s8 product that a set could have computed in
// another way, of operands widened beforehand. No kernel does; the limit says what it would bring. s8_single and
// s8_signed: what avx2 does with products of s8 where its usual sequence could overflow.
enum class Operands { s8, f32, s16, s7, s8_single, s8_signed };

// Parts of a product by the sequence that they take, 1 together. Sets other than avx2 have one.
struct Mix {
    double usual = 1;
    double single = 0;
    double with_signs = 0;
};

struct Bytes {
    const void* data;
    std::size_t count;
};

// That sequence; empty where none is written down for the set.
std::string_view counted_operations(std::string_view kernel_set, Operands operands);

// GMAC/s now, in about 5 ms for each sequence: the median of a few short runs. 0 where there is no such sequence.
double measured_limit(std::string_view kernel_set, Operands operands, const Mix& mix = {});

// "GMAC/s" of a benchmark that did `macs` an iteration, and "% of limit" of what the limit was right before it,
// `before`, and is now, in the middle: a processor's clock moves by a tenth and more from one benchmark to the next.
void count_macs(benchmark::State& state, double macs, std::string_view kernel_set, Operands operands, double before,
                const Mix& mix = {});

// GB/s of reading these bytes from where they are again and again, now, in about 10 ms: the median of some runs. 0
// where no loop is written down for the processor. `bytes` counts in full lines of 64.
double measured_bandwidth(const void* data, std::size_t bytes);

// The same of several pieces one after the other.
double measured_bandwidth(const Bytes* parts, std::size_t count);

// "GB/s" of a benchmark that read so many bytes of weights an iteration, and "% of bandwidth" of what reading alone
// reached right before it, `before`, and does now, in the middle.
void count_reads(benchmark::State& state, const void* data, std::size_t bytes, double before);

}  // namespace etch::bench
