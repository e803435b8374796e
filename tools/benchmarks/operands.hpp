// SPDX-License-Identifier: Apache-2.0
// Operands for the benchmarks: random, always the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <vector>

#include "etch/ops/rows.hpp"
#include "kernels/kernel_set.hpp"

namespace etch::bench {

// Begins at a cache line, as generated tables and arenas do.
template <class T>
struct LineAllocator {
    using value_type = T;
    static constexpr std::align_val_t kLine{64};

    LineAllocator() = default;
    template <class U>
    LineAllocator(const LineAllocator<U>&) {}

    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), kLine)); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
    bool operator==(const LineAllocator&) const { return true; }
    bool operator!=(const LineAllocator&) const { return false; }
};
template <class T>
using Aligned = std::vector<T, LineAllocator<T>>;

// Uniform in [-3, 3].
Aligned<float> random_floats(std::size_t count);
Aligned<std::int8_t> random_bytes(std::size_t count);  // -127 to 127

// Normally distributed rows, quantized for one set: avx2's product takes longer where many values are large.
class Quantized {
  public:
    Quantized(const KernelSet& set, std::uint32_t rows, std::uint32_t width);
    QuantizedRows rows();

  private:
    std::size_t stride_;
    Aligned<std::uint8_t> bytes_;
    std::vector<float> scales_;
};

// Every set that this CPU can run, best first; with a name, that one only (none where it is not usable).
std::vector<const KernelSet*> usable_sets(const std::string& name);

}  // namespace etch::bench
