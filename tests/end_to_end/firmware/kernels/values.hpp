// SPDX-License-Identifier: Apache-2.0
// What the checks of kernels on a board share: a fixed source of values, and
// comparison bit for bit.
#pragma once

#include <cstdint>
#include <cstring>

#include "etch/kernels.hpp"
#include "kernels/kernel_set.hpp"
#include "output.hpp"

namespace checks {

// A 64-bit linear congruential generator, high bits only.
class Random {
  public:
    explicit Random(std::uint32_t seed) noexcept : state_(seed) {}

    std::uint32_t bits() noexcept {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>(state_ >> 33);
    }
    // In [-1, 1].
    float unit() noexcept { return static_cast<float>(static_cast<std::int32_t>(bits() % 2000001u) - 1000000) * 1e-6f; }
    std::int8_t s8() noexcept { return static_cast<std::int8_t>(static_cast<std::int32_t>(bits() % 255u) - 127); }

    void fill(float* values, std::size_t count, float scale = 1.0f, float offset = 0.0f) noexcept {
        for (std::size_t i = 0; i < count; ++i)
            values[i] = unit() * scale + offset;
    }

  private:
    std::uint64_t state_;
};

inline bool same_bits(const void* a, const void* b, std::size_t bytes) noexcept {
    return std::memcmp(a, b, bytes) == 0;
}

inline float from_bits(std::uint32_t bits) noexcept {
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

// Counts what was compared and prints what differed.
class Report {
  public:
    template <class... Numbers>
    void expect(bool right, const char* what, Numbers... numbers) noexcept {
        ++checked_;
        if (right || ++wrong_ > 10) return;
        output::print("differs: ");
        output::print(what);
        ((output::print(" "), output::print(static_cast<std::uint64_t>(numbers))), ...);
        output::print("\n");
    }
    std::uint64_t checked() const noexcept { return checked_; }
    std::uint64_t wrong() const noexcept { return wrong_; }

  private:
    std::uint64_t checked_ = 0;
    std::uint64_t wrong_ = 0;
};

// Where the processor has an FPU.
void check_float_mode(const etch::KernelSet& set, Report& report) noexcept;

// `set` against `scalar`.
void check_products(const etch::KernelSet& set, const etch::KernelSet& scalar, Report& report) noexcept;
void check_rows(const etch::KernelSet& set, const etch::KernelSet& scalar, Report& report) noexcept;
void check_4_bits(const etch::KernelSet& set, const etch::KernelSet& scalar, Report& report) noexcept;

}  // namespace checks
