// SPDX-License-Identifier: Apache-2.0
// Every kernel of our own. A kernel is a struct of its parameters whose operator() is the work of one block; it is
// written over a Block, which on the device is threads and on the host a loop over them:
//
//     Block::kThreads, kWarps               as many as the kernel's kThreads says
//     x(), y(), z()                         which block
//     shared()                              the kernel's shared_bytes() bytes, 256-byte aligned
//     threads(f)                            f(thread) for each thread, then a barrier
//     warps(f)                              f(warp) for each warp, then a barrier
//     Block::PerThread<T>                   a value of each thread: v[thread]
//     max(PerThread<float>)                 of all threads, at least 0; with barriers
//     sum(PerThread<float>)                 in any order; with barriers
//     kLanes, lanes(f), PerLane<T>          kThreads, threads(f) and PerThread<T>: a team is a block or a warp, and of
//                                           which kind kIsWarp says
// and in a warp
//     index()                               of the warp in the block
//     lanes(f)                              f(lane) for each of kLanes lanes, which then see what all have written
//     own(f)                                f(lane) for each, which see only what they had written themselves
//     Warp::PerLane<T>                      a value of each lane
//     max(PerLane<float>)                   of all lanes
//     sum(PerLane<float>)                   in any order
//     max_of_4(PerLane<T>), sum_of_4        every float of T::of becomes that of lanes 4i to 4i + 3; sums are the
//                                           contract's: (0 + 2) + (1 + 3)
//     multiply(sums, left, right)           sums += left right, of bf16 or of s8: fragments.hpp
//     sum_of_16(PerLane<float>)             of lanes 0 to 15, the contract's tree: +8, +4, +2, +1; lane i + 16 holds
//                                           the same as lane i
//     max_of_some(PerLane<float>, some)     every value becomes the largest of lanes some * i to some * i + some - 1;
//                                           `some` is a power of two
//     Warp::Product<Value>                  the sums of a 16 x 16 tile, which begin at 0: s32 for std::int8_t, f32 for
//                                           Bf16; pointers 32-byte aligned, strides in values, multiples of 16 bytes
//         add(a, b, tiles)                      += the sum of a b over `tiles` tiles a and b, each [16][16] and a step
//                                               from the one before
//         add_transposed(a, b, tiles)           += the sum of a b^T
//         store(words, stride)                  as words of 32 bits [16][16]
#pragma once

#include "attention.hpp"
#include "exact_attention.hpp"
#include "fast_attention.hpp"
#include "fast_sum_norm.hpp"
#include "layer_norm.hpp"
#include "linear_f32.hpp"
#include "map_rows.hpp"
#include "pool.hpp"
#include "split_heads.hpp"
#include "unpack.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

using EmbedNormExact = EmbedNorm<S8Embedding, S8Sink>;
using EmbedNormFast = EmbedNorm<S8Embedding, Bf16Sink>;
using EmbedNormFastF32 = EmbedNorm<F32Embedding, Bf16Sink>;
using EmbedNormExactByWarps = EmbedNorm<S8Embedding, S8Sink, true>;
using EmbedNormFastByWarps = EmbedNorm<S8Embedding, Bf16Sink, true>;
using EmbedNormFastF32ByWarps = EmbedNorm<F32Embedding, Bf16Sink, true>;
using SumNormExact = SumNorm<S32Source, F32Source, S8Sink>;
using SumNormExactByWarps = SumNorm<S32Source, F32Source, S8Sink, true>;
using SumNormFast = SumNorm<Bf16Source, Bf16Source, Bf16Sink>;
using SumNormFast256 = FastSumNorm<1>;
using SumNormFast512 = FastSumNorm<2>;
using SumNormFast768 = FastSumNorm<3>;
using SumNormFast1024 = FastSumNorm<4>;
using ActivateExact = MapRows<S32Source, S8Sink>;
using ActivateExactToF32 = MapRows<S32Source, F32Sink>;
using ActivateFast = MapRows<Bf16Source, Bf16Sink>;
using ActivateFastToF32 = MapRows<Bf16Source, F32Sink>;
using QuantizeRows = MapRows<F32Source, S8Sink>;
using QuantizeRowsByWarps = MapRows<F32Source, S8Sink, true>;
using AttentionExact = Attention<ExactHeads>;
using AttentionExact32 = ExactAttention<32>;
using AttentionExact64 = ExactAttention<64>;
using AttentionExact128 = ExactAttention<128>;
using AttentionFast = Attention<FastHeads>;
using AttentionFast32 = FastAttention<32>;
using AttentionFast64 = FastAttention<64>;
using AttentionFast128 = FastAttention<128>;
using PoolTexts = Pool<F32Source>;
using PoolTextsFast = Pool<Bf16Source>;
using UnpackS8 = Unpack<PackedS8>;
using UnpackScaledS8 = Unpack<Scaled<PackedS8>>;
using UnpackS4 = Unpack<PackedS4>;
using UnpackScaledS4 = Unpack<Scaled<PackedS4>>;
using UnpackF32 = Unpack<PackedF32>;

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

// X(kernel) for each.
#define ETCH_CUDA_KERNELS(X)   \
    X(EmbedNormExact)          \
    X(EmbedNormFast)           \
    X(EmbedNormFastF32)        \
    X(EmbedNormExactByWarps)   \
    X(EmbedNormFastByWarps)    \
    X(EmbedNormFastF32ByWarps) \
    X(SumNormExact)            \
    X(SumNormExactByWarps)     \
    X(SumNormFast)             \
    X(SumNormFast256)          \
    X(SumNormFast512)          \
    X(SumNormFast768)          \
    X(SumNormFast1024)         \
    X(ActivateExact)           \
    X(ActivateExactToF32)      \
    X(ActivateFast)            \
    X(ActivateFastToF32)       \
    X(QuantizeRows)            \
    X(QuantizeRowsByWarps)     \
    X(SplitHeads)              \
    X(AttentionExact)          \
    X(AttentionExact32)        \
    X(AttentionExact64)        \
    X(AttentionExact128)       \
    X(AttentionFast)           \
    X(AttentionFast32)         \
    X(AttentionFast64)         \
    X(AttentionFast128)        \
    X(PoolTexts)               \
    X(PoolTextsFast)           \
    X(LinearRowsF32)           \
    X(UnpackS8)                \
    X(UnpackScaledS8)          \
    X(UnpackS4)                \
    X(UnpackScaledS4)          \
    X(UnpackF32)
