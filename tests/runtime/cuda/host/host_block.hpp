// SPDX-License-Identifier: Apache-2.0
// The Block of runtime/src/cuda/kernels/kernels.hpp as loops over threads, warps and lanes. What a device would refuse
// stops the program; shared memory begins as NaNs. The order of the loops is chosen, for no result may depend on it.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cuda/kernels/bf16.hpp"
#include "cuda/kernels/fragments.hpp"
#include "cuda/kernels/grid.hpp"
#include "cuda/kernels/tiles.hpp"
#include "etch/cuda/input.hpp"

namespace etch::cuda::host {

inline void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "a device would refuse: %s\n", what);
    std::abort();
}

enum class Order { forward, backward };

template <class F>
void for_each(std::uint32_t count, Order order, F f) {
    for (std::uint32_t i = 0; i < count; ++i)
        f(order == Order::forward ? i : count - 1 - i);
}

template <class T, std::uint32_t kCount>
using Values = std::array<T, kCount>;

template <class Of>
struct TileTypes;
template <>
struct TileTypes<std::int8_t> {
    using Sum = std::int32_t;
    static Sum product(std::int8_t a, std::int8_t b) { return a * b; }
};
template <>
struct TileTypes<Bf16> {
    using Sum = float;
    static Sum product(Bf16 a, Bf16 b) { return to_float(a) * to_float(b); }
};

class Warp {
  public:
    static constexpr bool kIsWarp = true;
    static constexpr std::uint32_t kLanes = 32;
    template <class T>
    using PerLane = Values<T, kLanes>;

    Warp(std::uint32_t index, Order order) : index_(index), order_(order) {}

    std::uint32_t index() const { return index_; }

    template <class F>
    void lanes(F f) const {
        for_each(kLanes, order_, f);
    }

    template <class F>
    void own(F f) const {
        for_each(kLanes, order_, f);
    }

    void multiply(PerLane<Sums>& sums, const PerLane<Left>& left, const PerLane<Right>& right) const {
        float a[16][16], b[16][8];
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            const std::uint32_t g = lane / 4, t = lane % 4;
            for (std::uint32_t i = 0; i < 8; ++i)
                a[g + i / 2 % 2 * 8][2 * t + i % 2 + i / 4 * 8] = half_of(left[lane].words[i / 2], i % 2);
            for (std::uint32_t i = 0; i < 4; ++i)
                b[2 * t + i % 2 + i / 2 * 8][g] = half_of(right[lane].words[i / 2], i % 2);
        }
        add_products(sums, a, b);
    }

    void multiply(PerLane<IntegerSums>& sums, const PerLane<Left>& left, const PerLane<Right>& right) const {
        std::int32_t a[16][32], b[32][8];
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            const std::uint32_t g = lane / 4, t = lane % 4;
            for (std::uint32_t i = 0; i < 16; ++i)
                a[g + i / 4 % 2 * 8][4 * t + i % 4 + i / 8 * 16] = byte_of(left[lane].words[i / 4], i % 4);
            for (std::uint32_t i = 0; i < 8; ++i)
                b[4 * t + i % 4 + i / 4 * 16][g] = byte_of(right[lane].words[i / 4], i % 4);
        }
        add_products(sums, a, b);
    }

    template <class Some>
    void max_of_4(PerLane<Some>& values) const {
        of_4(values, [](float a, float b) { return a > b ? a : b; });
    }
    template <class Some>
    void sum_of_4(PerLane<Some>& values) const {
        of_4(values, [](float a, float b) { return a + b; });
    }

    float max(const PerLane<float>& values) const {
        float largest = values[0];
        for (const float value : values)
            largest = value > largest ? value : largest;
        return largest;
    }

    float sum(const PerLane<float>& values) const {
        float sum = 0.0f;
        for (const float value : values)
            sum += value;
        return sum;
    }

    float sum_of_16(PerLane<float> values) const {
        for (std::uint32_t i = 0; i < 16; ++i)
            require(std::memcmp(&values[i], &values[i + 16], sizeof(float)) == 0, "lanes 16 to 31 differ");
        for (std::uint32_t half = 8; half != 0; half /= 2) {
            for (std::uint32_t i = 0; i < half; ++i)
                values[i] += values[i + half];
        }
        return values[0];
    }

    void max_of_some(PerLane<float>& values, std::uint32_t some) const {
        require(some != 0 && (some & (some - 1)) == 0 && some <= kLanes, "so many lanes");
        for (std::uint32_t first = 0; first < kLanes; first += some) {
            float largest = values[first];
            for (std::uint32_t i = 1; i < some; ++i)
                largest = values[first + i] > largest ? values[first + i] : largest;
            for (std::uint32_t i = 0; i < some; ++i)
                values[first + i] = largest;
        }
    }

    template <class Of>
    class Product {
      public:
        void add(Tiles<Of> a, Tiles<Of> b, std::uint32_t tiles) { add_all(a, b, tiles, b.stride, 1); }
        void add_transposed(Tiles<Of> a, Tiles<Of> b, std::uint32_t tiles) { add_all(a, b, tiles, 1, b.stride); }
        void store(std::uint32_t* words, std::uint32_t stride) const {
            check(words, stride);
            for (std::uint32_t row = 0; row < kTile; ++row)
                std::memcpy(words + row * stride, sums_[row], sizeof sums_[row]);
        }

      private:
        using Sum = typename TileTypes<Of>::Sum;

        template <class T>
        static void check(const T* tile, std::uint32_t stride) {
            require(reinterpret_cast<std::uintptr_t>(tile) % 32 == 0, "a tile at this address");
            require(stride * sizeof(T) % 16 == 0, "a tile with this stride");
        }

        // Element [k][column] of a tile of b lies at k * down + column * right.
        void add_all(Tiles<Of> a, Tiles<Of> b, std::uint32_t tiles, std::uint32_t down, std::uint32_t right) {
            for (std::uint32_t tile = 0; tile < tiles; ++tile, a.values += a.step, b.values += b.step) {
                check(a.values, a.stride);
                check(b.values, b.stride);
                for (std::uint32_t row = 0; row < kTile; ++row) {
                    for (std::uint32_t k = 0; k < kTile; ++k)
                        add_row(row, a.values[row * a.stride + k], b.values + k * down, right);
                }
            }
        }
        void add_row(std::uint32_t row, Of a, const Of* b, std::uint32_t right) {
            for (std::uint32_t column = 0; column < kTile; ++column)
                sums_[row][column] += TileTypes<Of>::product(a, b[column * right]);
        }

        Sum sums_[kTile][kTile] = {};
    };

  private:
    template <class OfLanes, class Value, std::size_t kDepth>
    static void add_products(OfLanes& sums, const Value (&a)[16][kDepth], const Value (&b)[kDepth][8]) {
        for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
            for (std::uint32_t i = 0; i < 4; ++i) {
                for (std::size_t k = 0; k < kDepth; ++k)
                    sums[lane].of[i] += a[lane / 4 + i / 2 * 8][k] * b[k][lane % 4 * 2 + i % 2];
            }
        }
    }

    static float half_of(std::uint32_t word, std::uint32_t half) {
        return to_float(Bf16{static_cast<std::uint16_t>(word >> (16 * half))});
    }

    static std::int32_t byte_of(std::uint32_t word, std::uint32_t byte) {
        return static_cast<std::int8_t>(word >> (8 * byte));
    }

    template <class Some, class Join>
    static void of_4(PerLane<Some>& values, Join join) {
        for (std::size_t i = 0; i < std::size(values[0].of); ++i) {
            for (std::uint32_t lane = 0; lane < kLanes; lane += 4) {
                const float joined = join(join(values[lane].of[i], values[lane + 2].of[i]),
                                          join(values[lane + 1].of[i], values[lane + 3].of[i]));
                for (std::uint32_t each = 0; each < 4; ++each)
                    values[lane + each].of[i] = joined;
            }
        }
    }

    std::uint32_t index_;
    Order order_;
};

template <std::uint32_t kThreadsOfBlock>
class Block {
  public:
    using Warp = host::Warp;
    static constexpr std::uint32_t kThreads = kThreadsOfBlock;
    static constexpr std::uint32_t kWarps = kThreads / Warp::kLanes;
    static_assert(kThreads % Warp::kLanes == 0 && kThreads <= 1024);
    static constexpr bool kIsWarp = false;
    static constexpr std::uint32_t kLanes = kThreads;
    template <class T>
    using PerThread = Values<T, kThreads>;
    template <class T>
    using PerLane = Values<T, kThreads>;

    Block(Grid at, std::uint8_t* shared, Order order) : at_(at), shared_(shared), order_(order) {}

    std::uint32_t x() const { return at_.x; }
    std::uint32_t y() const { return at_.y; }
    std::uint32_t z() const { return at_.z; }
    std::uint8_t* shared() const { return shared_; }

    template <class F>
    void threads(F f) const {
        for_each(kThreads, order_, f);
    }

    template <class F>
    void lanes(F f) const {
        threads(f);
    }

    template <class F>
    void warps(F f) const {
        for_each(kWarps, order_, [&](std::uint32_t index) {
            const Warp warp(index, order_);
            f(warp);
        });
    }

    float sum(const PerThread<float>& values) const {
        float sum = 0.0f;
        for (const float value : values)
            sum += value;
        return sum;
    }

    float max(const PerThread<float>& values) const {
        float largest = 0.0f;
        for (const float value : values)
            largest = value > largest ? value : largest;
        return largest;
    }

  private:
    Grid at_;
    std::uint8_t* shared_;
    Order order_;
};

}  // namespace etch::cuda::host
