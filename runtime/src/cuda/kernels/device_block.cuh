// SPDX-License-Identifier: Apache-2.0
// The Block of kernels.hpp on a GPU. A value of each thread is a register.
#pragma once

#include <cuda_bf16.h>
#include <mma.h>

#include "bf16.hpp"
#include "etch/cuda/input.hpp"
#include "fragments.hpp"
#include "tiles.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// What the tensor cores call a tile's values and sums.
template <class Value>
struct TileTypes;
template <>
struct TileTypes<std::int8_t> {
    using Value = signed char;
    using Sum = int;
};
template <>
struct TileTypes<Bf16> {
    using Value = __nv_bfloat16;
    using Sum = float;
};

template <class T>
class OwnValue {
  public:
    __device__ T& operator[](std::uint32_t) noexcept { return value_; }

  private:
    T value_;
};

class DeviceWarp {
  public:
    static constexpr bool kIsWarp = true;
    static constexpr std::uint32_t kLanes = 32;
    template <class T>
    using PerLane = OwnValue<T>;

    __device__ std::uint32_t index() const noexcept { return threadIdx.x / kLanes; }

    template <class F>
    __device__ void lanes(F f) const noexcept {
        f(threadIdx.x % kLanes);
        __syncwarp();
    }

    template <class F>
    __device__ void own(F f) const noexcept {
        f(threadIdx.x % kLanes);
    }

    __device__ void multiply(PerLane<Sums>& sums, PerLane<Left>& left, PerLane<Right>& right) const noexcept {
        float(&of)[4] = sums[0].of;
        const std::uint32_t(&a)[4] = left[0].words;
        const std::uint32_t(&b)[2] = right[0].words;
        asm volatile(
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+f"(of[0]), "+f"(of[1]), "+f"(of[2]), "+f"(of[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }

    __device__ void multiply(PerLane<IntegerSums>& sums, PerLane<Left>& left, PerLane<Right>& right) const noexcept {
        std::int32_t(&of)[4] = sums[0].of;
        const std::uint32_t(&a)[4] = left[0].words;
        const std::uint32_t(&b)[2] = right[0].words;
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+r"(of[0]), "+r"(of[1]), "+r"(of[2]), "+r"(of[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    }

    template <class Some>
    __device__ void max_of_4(PerLane<Some>& values) const noexcept {
        of_4(values, [](float a, float b) { return a > b ? a : b; });
    }
    template <class Some>
    __device__ void sum_of_4(PerLane<Some>& values) const noexcept {
        of_4(values, [](float a, float b) { return a + b; });
    }

    __device__ float max(PerLane<float>& values) const noexcept {
        PerLane<float> largest = values;
        max_of_some(largest, kLanes);
        return largest[0];
    }

    __device__ float sum(PerLane<float>& values) const noexcept {
        float sum = values[0];
        for (unsigned step = kLanes / 2; step != 0; step /= 2)
            sum += __shfl_xor_sync(kAll, sum, step);
        return sum;
    }

    __device__ float sum_of_16(PerLane<float>& values) const noexcept {
        float sum = values[0];
        for (unsigned step = 8; step != 0; step /= 2)
            sum += __shfl_xor_sync(kAll, sum, step);
        return sum;
    }

    __device__ void max_of_some(PerLane<float>& values, std::uint32_t some) const noexcept {
        for (unsigned step = some / 2; step != 0; step /= 2) {
            const float other = __shfl_xor_sync(kAll, values[0], step);
            values[0] = other > values[0] ? other : values[0];
        }
    }

    template <class Of>
    class Product {
      public:
        __device__ Product() noexcept { nvcuda::wmma::fill_fragment(sums_, Sum{0}); }

        __device__ void add(Tiles<Of> a, Tiles<Of> b, std::uint32_t tiles) noexcept {
            add_as<nvcuda::wmma::row_major>(a, b, tiles);
        }
        __device__ void add_transposed(Tiles<Of> a, Tiles<Of> b, std::uint32_t tiles) noexcept {
            add_as<nvcuda::wmma::col_major>(a, b, tiles);
        }
        __device__ void store(std::uint32_t* words, std::uint32_t stride) const noexcept {
            nvcuda::wmma::store_matrix_sync(reinterpret_cast<Sum*>(words), sums_, stride, nvcuda::wmma::mem_row_major);
        }

      private:
        using Value = typename TileTypes<Of>::Value;
        using Sum = typename TileTypes<Of>::Sum;

        // So many tiles are loaded before the first is multiplied: memory is far, and answers several at once.
        static constexpr std::uint32_t kAtOnce = 4;

        template <class Layout>
        __device__ void add_as(Tiles<Of> a, Tiles<Of> b, std::uint32_t tiles) noexcept {
            for (; tiles >= kAtOnce; tiles -= kAtOnce)
                add_some<Layout, kAtOnce>(a, b);
            for (; tiles > 0; --tiles)
                add_some<Layout, 1>(a, b);
        }

        template <class Layout, std::uint32_t kCount>
        __device__ void add_some(Tiles<Of>& a, Tiles<Of>& b) noexcept {
            using namespace nvcuda::wmma;
            fragment<matrix_a, kTile, kTile, kTile, Value, row_major> left[kCount];
            fragment<matrix_b, kTile, kTile, kTile, Value, Layout> right[kCount];
#pragma unroll
            for (std::uint32_t i = 0; i < kCount; ++i) {
                load_matrix_sync(left[i], reinterpret_cast<const Value*>(a.values), a.stride);
                load_matrix_sync(right[i], reinterpret_cast<const Value*>(b.values), b.stride);
                a.values += a.step;
                b.values += b.step;
            }
#pragma unroll
            for (std::uint32_t i = 0; i < kCount; ++i)
                mma_sync(sums_, left[i], right[i], sums_);
        }

        nvcuda::wmma::fragment<nvcuda::wmma::accumulator, kTile, kTile, kTile, Sum> sums_;
    };

  private:
    static constexpr unsigned kAll = 0xFFFFFFFFu;

    template <class Some, class Join>
    __device__ void of_4(PerLane<Some>& values, Join join) const noexcept {
#pragma unroll
        for (float& value : values[0].of) {
            value = join(value, __shfl_xor_sync(kAll, value, 2));
            value = join(value, __shfl_xor_sync(kAll, value, 1));
        }
    }
};

extern __shared__ __align__(256) std::uint8_t dynamic_shared_memory[];

template <std::uint32_t kThreadsOfBlock>
class DeviceBlock {
  public:
    using Warp = DeviceWarp;
    static constexpr std::uint32_t kThreads = kThreadsOfBlock;
    static constexpr std::uint32_t kWarps = kThreads / Warp::kLanes;
    static_assert(kThreads % Warp::kLanes == 0);
    static constexpr bool kIsWarp = false;
    static constexpr std::uint32_t kLanes = kThreads;
    template <class T>
    using PerThread = OwnValue<T>;
    template <class T>
    using PerLane = OwnValue<T>;

    __device__ std::uint32_t x() const noexcept { return blockIdx.x; }
    __device__ std::uint32_t y() const noexcept { return blockIdx.y; }
    __device__ std::uint32_t z() const noexcept { return blockIdx.z; }
    __device__ std::uint8_t* shared() const noexcept { return dynamic_shared_memory; }

    template <class F>
    __device__ void threads(F f) const noexcept {
        f(threadIdx.x);
        __syncthreads();
    }
    template <class F>
    __device__ void lanes(F f) const noexcept {
        threads(f);
    }

    template <class F>
    __device__ void warps(F f) const noexcept {
        const Warp warp;
        f(warp);
        __syncthreads();
    }

    __device__ float max(PerThread<float>& values) const noexcept {
        return of_warps(Warp().max(values), [](float a, float b) { return a > b ? a : b; });
    }
    __device__ float sum(PerThread<float>& values) const noexcept {
        return of_warps(Warp().sum(values), [](float a, float b) { return a + b; });
    }

  private:
    // Of the values of each warp, in their order.
    template <class Join>
    __device__ float of_warps(float of_warp, Join join) const noexcept {
        __shared__ float values[kWarps];
        const Warp warp;
        if (threadIdx.x % Warp::kLanes == 0) values[warp.index()] = of_warp;
        __syncthreads();
        float joined = values[0];
        for (std::uint32_t i = 1; i < kWarps; ++i)
            joined = join(joined, values[i]);
        __syncthreads();
        return joined;
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
