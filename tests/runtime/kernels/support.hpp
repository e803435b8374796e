// SPDX-License-Identifier: Apache-2.0
// What the tests of kernels and ops share: a fixed source of values, buffers that end at an unreadable page, packing
// by packing.hpp's index functions, and comparison bit for bit.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "emulated/emulated.hpp"
#include "etch/kernels.hpp"
#include "kernels/kernel_set.hpp"

namespace etch::testing {

inline constexpr std::uint32_t kSeed = 20260117;

// The same values on every machine: a 32-bit linear congruential generator, high bits only.
class Random {
  public:
    explicit Random(std::uint32_t seed = kSeed) : state_(seed) {}

    std::uint32_t bits() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(state_ >> 33);
    }
    // In [-1, 1].
    float unit() { return static_cast<float>(static_cast<std::int32_t>(bits() % 2000001u) - 1000000) * 1e-6f; }
    std::int8_t s8() { return static_cast<std::int8_t>(static_cast<std::int32_t>(bits() % 255u) - 127); }

    std::vector<float> floats(std::size_t count, float scale = 1.0f, float offset = 0.0f) {
        std::vector<float> values(count);
        for (float& value : values)
            value = unit() * scale + offset;
        return values;
    }
    // In [-63, 63].
    std::vector<std::int8_t> s7s(std::size_t count) {
        std::vector<std::int8_t> values(count);
        for (std::int8_t& value : values)
            value = static_cast<std::int8_t>(s8() / 2);
        return values;
    }
    std::vector<std::int8_t> s8s(std::size_t count) {
        std::vector<std::int8_t> values(count);
        for (std::int8_t& value : values)
            value = s8();
        return values;
    }

  private:
    std::uint64_t state_;
};

// An array whose last byte is the last one before an unreadable page, so that reading or writing behind it crashes.
// Its alignment is that of its size: odd sizes give misaligned vectors.
template <class T>
class EdgeArray {
  public:
    explicit EdgeArray(std::size_t count, T fill = T{}) : count_(count) {
        const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        const std::size_t bytes = count * sizeof(T);
        length_ = (bytes + page - 1) / page * page + page;
        memory_ = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED) throw std::runtime_error("mmap");
        std::uint8_t* guard = static_cast<std::uint8_t*>(memory_) + length_ - page;
        if (mprotect(guard, page, PROT_NONE) != 0) throw std::runtime_error("mprotect");
        data_ = reinterpret_cast<T*>(guard - bytes);
        for (std::size_t i = 0; i < count; ++i)
            data_[i] = fill;
    }
    explicit EdgeArray(const std::vector<T>& values) : EdgeArray(values.size()) {
        if (!values.empty()) std::memcpy(data_, values.data(), values.size() * sizeof(T));
    }
    EdgeArray(EdgeArray&& other) noexcept
        : count_(other.count_), length_(other.length_), memory_(other.memory_), data_(other.data_) {
        other.memory_ = MAP_FAILED;
    }
    EdgeArray(const EdgeArray&) = delete;
    EdgeArray& operator=(const EdgeArray&) = delete;
    EdgeArray& operator=(EdgeArray&&) = delete;
    ~EdgeArray() {
        if (memory_ != MAP_FAILED) munmap(memory_, length_);
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    std::size_t size() const { return count_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }

  private:
    std::size_t count_;
    std::size_t length_;
    void* memory_;
    T* data_;
};

template <class A, class B>
::testing::AssertionResult same_bits(const A& got, const B& want) {
    if (got.size() != want.size()) return ::testing::AssertionFailure() << "sizes differ";
    for (std::size_t i = 0; i < got.size(); ++i) {
        if (std::memcmp(&got[i], &want[i], sizeof got[i]) != 0) {
            return ::testing::AssertionFailure() << "element " << i << " of " << got.size() << " is " << +got[i]
                                                 << ", not " << +want[i] << "; seed " << kSeed;
        }
    }
    return ::testing::AssertionSuccess();
}

inline ::testing::AssertionResult same_bits(float got, float want) {
    return same_bits(std::vector<float>{got}, std::vector<float>{want});
}

// Row-major [n][k] values in `packing`, with zero padding.
inline EdgeArray<std::int8_t> pack(Packing packing, const std::vector<std::int8_t>& values, std::size_t n,
                                   std::size_t k) {
    EdgeArray<std::int8_t> packed(packed_s8_bytes(packing, n, k));
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < k; ++j)
            packed[packed_s8_index(packing, i, j, k)] = values[i * k + j];
    }
    return packed;
}

inline EdgeArray<float> pack(Packing packing, const std::vector<float>& values, std::size_t n, std::size_t k) {
    EdgeArray<float> packed(packed_f32_elements(packing, n, k));
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < k; ++j)
            packed[packed_f32_index(packing, i, j, k)] = values[i * k + j];
    }
    return packed;
}

// Weights of 4 bits with random factors, packed, and the s8 weights that they stand for, row-major.
struct S4Table {
    std::uint32_t n;
    std::uint32_t k;
    EdgeArray<std::int8_t> q;
    EdgeArray<std::uint8_t> factors;
    std::vector<std::int8_t> expanded;  // [n][k]

    S4Table(Packing packing, std::uint32_t outputs, std::uint32_t inputs, std::uint32_t seed = kSeed)
        : n(outputs),
          k(inputs),
          q(packed_s4_bytes(packing, n, k)),
          factors(packed_s4_factors(packing, n, k)),
          expanded(std::size_t{n} * k) {
        Random random(seed);
        for (std::uint32_t i = 0; i < n; ++i) {
            for (std::uint32_t j = 0; j < k; ++j) {
                std::uint8_t& factor = factors[packed_s4_factor_index(packing, i, j, k)];
                if (j % kS4Group == 0) factor = static_cast<std::uint8_t>(1 + random.bits() % 18u);
                const int value = std::max(static_cast<int>(random.bits() % 16u) - 8, -127 / factor);
                const bool high = packed_s4_high(packing, j);
                std::int8_t& byte = q[packed_s4_index(packing, i, j, k)];
                byte = static_cast<std::int8_t>(byte | ((value & 15) << (high ? 4 : 0)));
                expanded[std::size_t{i} * k + j] = static_cast<std::int8_t>(value * factor);
            }
        }
    }
};

// Rows of floats quantized by a set into the set's own encoding.
class EncodedRows {
  public:
    EncodedRows(const KernelSet& set, const std::vector<float>& x, std::uint32_t rows, std::uint32_t k)
        : stride_(round_up(k, kEncodedPadding) * set.encoded_row_bytes_per_value),
          bytes_(rows * stride_, std::uint8_t{0xA5}),
          scales_(rows) {
        for (std::uint32_t row = 0; row < rows; ++row) {
            scales_[row] = set.quantize_row(x.data() + std::size_t{row} * k, k, bytes_.data() + row * stride_);
        }
    }
    QuantizedRows view() { return {bytes_.data(), scales_.data(), stride_}; }

  private:
    std::size_t stride_;
    EdgeArray<std::uint8_t> bytes_;
    EdgeArray<float> scales_;
};

inline const KernelList& kernels_for(Packing packing) {
    return packing == Packing::panel ? kPanelKernels : kRowsKernels;
}

inline const KernelSet& scalar(Packing packing) {
    const KernelSet* set = nullptr;
    if (find_kernels(kernels_for(packing), "scalar", set) != Status::ok) throw std::runtime_error("no scalar set");
    return *set;
}

// Every set that this CPU can run, of every list, each of those with one name, and those that it can emulate.
inline std::vector<const KernelSet*> usable_sets() {
    std::vector<const KernelSet*> sets = emulated_sets();
    for (const KernelList* list : {&kPanelKernels, &kRowsKernels}) {
        for (std::size_t i = 0; i < list->count; ++i) {
            const bool is_new = std::find(sets.begin(), sets.end(), list->sets[i]) == sets.end();
            if (is_new && list->sets[i]->usable()) sets.push_back(list->sets[i]);
        }
    }
    return sets;
}

inline std::string name_of(const KernelSet& set) {
    const std::string emulated = emulated_suffix(set);
    const char* const packing = set.packing == Packing::panel ? "_panel" : "_rows";
    const KernelSet* meant = nullptr;
    const bool is_meant =
        find_kernels(kernels_for(set.packing), kernel_name(set), meant) == Status::ok && meant == &set;
    return std::string(kernel_name(set)) + packing + (is_meant || !emulated.empty() ? emulated : "_of_other_cpus");
}

// A test that runs once per usable set.
class EachSet : public ::testing::TestWithParam<const KernelSet*> {
  protected:
    void SetUp() override { RecordProperty("seed", static_cast<int>(kSeed)); }
    const KernelSet& set() const { return *GetParam(); }
};

inline std::string set_name(const ::testing::TestParamInfo<const KernelSet*>& info) {
    return name_of(*info.param);
}

inline const Activation kAllActivations[] = {Activation::none,      Activation::relu,       Activation::gelu,
                                             Activation::gelu_tanh, Activation::quick_gelu, Activation::silu,
                                             Activation::tanh,      Activation::sigmoid};

}  // namespace etch::testing
