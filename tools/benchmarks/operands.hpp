// SPDX-License-Identifier: Apache-2.0
// Operands for the benchmarks: random, always the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "etch/ops/rows.hpp"
#include "kernels/kernel_set.hpp"

namespace etch::bench {

// Uniform in [-3, 3].
std::vector<float> random_floats(std::size_t count);
std::vector<std::int8_t> random_bytes(std::size_t count);  // -127 to 127

// Rows quantized for one set.
class Quantized {
  public:
    Quantized(const KernelSet& set, std::uint32_t rows, std::uint32_t width);
    QuantizedRows rows();

  private:
    std::size_t stride_;
    std::vector<std::uint8_t> bytes_;
    std::vector<float> scales_;
};

// Every set that this CPU can run, best first; with a name, that one only (none where it is not usable).
std::vector<const KernelSet*> usable_sets(const std::string& name);

}  // namespace etch::bench
