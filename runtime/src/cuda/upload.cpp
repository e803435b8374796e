// SPDX-License-Identifier: Apache-2.0
#include "etch/cuda/upload.hpp"

#include <cuda_runtime_api.h>

#include <type_traits>

#include "kernels/launch.hpp"
#include "status_of.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// The walk hands out pointers to const; before it ends they are written through, here only.
void Upload::copy(const void* to, const void* from, std::size_t bytes) noexcept {
    if (status_ != Status::ok) return;
    status_ = status_of(cudaMemcpyAsync(const_cast<void*>(to), from, bytes, cudaMemcpyHostToDevice,
                                        static_cast<cudaStream_t>(stream_)));
}

void Upload::zero(const void* to, std::size_t bytes) noexcept {
    if (status_ != Status::ok) return;
    status_ = status_of(cudaMemsetAsync(const_cast<void*>(to), 0, bytes, static_cast<cudaStream_t>(stream_)));
}

template <class Kernel>
void Upload::launch_kernel(const Kernel& kernel) noexcept {
    if (status_ != Status::ok) return;
    status_ = status_of(launch(kernel, static_cast<cudaStream_t>(stream_)));
}

void Upload::embedding(S8Embedding& to, const S8Embedding& from, std::size_t entries, std::uint32_t width) noexcept {
    places_.embedding(to, from, entries, width);
    copy(to.table, from.table, WeightPlaces::table_bytes(from, entries, width));
    copy(to.scales, from.scales, entries * sizeof(float));
    if (from.factors != nullptr) copy(to.factors, from.factors, WeightPlaces::factor_count(from, entries, width));
}

void Upload::embedding(F32Embedding& to, const F32Embedding& from, std::size_t entries, std::uint32_t width) noexcept {
    places_.embedding(to, from, entries, width);
    copy(to.table, from.table, entries * width * sizeof(float));
}

void Upload::norm(LayerNormWeights& to, const LayerNormWeights& from, std::uint32_t width) noexcept {
    places_.norm(to, from, width);
    copy(to.gamma, from.gamma, width * sizeof(float));
    copy(to.beta, from.beta, width * sizeof(float));
}

void Upload::linear(F32Linear& to, const F32Weights& from, Packing packing) noexcept {
    places_.linear(to, from, packing);
    copy(to.weights, from.weights, packed_f32_elements(packing, from.outputs, from.inputs) * sizeof(float));
    if (from.bias != nullptr) {
        copy(to.bias, from.bias, from.outputs * sizeof(float));
    } else {
        zero(to.bias, from.outputs * sizeof(float));
    }
}

void Upload::clear(const S8Linear& to) noexcept {
    zero(to.weights, std::size_t{padded(to.outputs)} * padded(to.inputs));
    zero(to.bias, to.outputs * sizeof(float));
}

void Upload::clear(const Bf16Linear& to) noexcept {
    zero(to.weights, std::size_t{padded(to.outputs)} * padded(to.inputs) * sizeof(Bf16));
    zero(to.bias, padded(to.outputs) * sizeof(Bf16));
}

template <class Source>
void Upload::unpack_from(const Source& source, const typename Source::Value* to, std::uint32_t stride,
                         std::uint32_t outputs, std::uint32_t inputs, const Part& part) noexcept {
    auto* const first = const_cast<typename Source::Value*>(to) + std::size_t{part.first} * stride;
    launch_kernel(Unpack<Source>{source,
                                 outputs,
                                 inputs,
                                 {part.outputs.width, part.outputs.stride},
                                 {part.inputs.width, part.inputs.stride},
                                 first,
                                 stride});
}

// A copy in the temporary, behind those in use.
template <class T>
const T* Upload::stage(const T* from, std::size_t count) noexcept {
    const auto* const staged = reinterpret_cast<const T*>(staging_ + staged_bytes_);
    staged_bytes_ += round_up(count * sizeof(T), kPlaceAlignment);
    copy(staged, from, count * sizeof(T));
    return staged;
}

// Calls use(the integers in the temporary).
template <class Use>
void Upload::with_integers(const S8Weights& from, Packing packing, Use use) noexcept {
    staged_bytes_ = 0;
    if (from.factors == nullptr) {
        use(PackedS8{stage(from.weights, packed_s8_bytes(packing, from.outputs, from.inputs)), packing});
    } else {
        const std::int8_t* const q = stage(from.weights, packed_s4_bytes(packing, from.outputs, from.inputs));
        use(PackedS4{q, packing, stage(from.factors, packed_s4_factors(packing, from.outputs, from.inputs))});
    }
}

void Upload::unpack(const S8Linear& to, const S8Weights& from, const Part& part) noexcept {
    with_integers(from, part.packing, [&](const auto& integers) noexcept {
        unpack_from(integers, to.weights, padded(to.inputs), from.outputs, from.inputs, part);
    });
    copy(to.scales + part.first, from.scales, from.outputs * sizeof(float));
    if (from.bias != nullptr) copy(to.bias + part.first, from.bias, from.outputs * sizeof(float));
}

void Upload::unpack(const Bf16Linear& to, const S8Weights& from, const Part& part) noexcept {
    with_integers(from, part.packing, [&](const auto& integers) noexcept {
        using Integers = std::decay_t<decltype(integers)>;
        const Scaled<Integers> scaled{integers, stage(from.scales, from.outputs)};
        unpack_from(scaled, to.weights, padded(to.inputs), from.outputs, from.inputs, part);
    });
    round_bias(to, from.bias, from.outputs, part);
}

void Upload::unpack(const Bf16Linear& to, const F32Weights& from, const Part& part) noexcept {
    staged_bytes_ = 0;
    const PackedF32 table{stage(from.weights, packed_f32_elements(part.packing, from.outputs, from.inputs)),
                          part.packing};
    unpack_from(table, to.weights, padded(to.inputs), from.outputs, from.inputs, part);
    round_bias(to, from.bias, from.outputs, part);
}

void Upload::round_bias(const Bf16Linear& to, const float* bias, std::uint32_t count, const Part& part) noexcept {
    if (bias == nullptr) return;
    staged_bytes_ = 0;
    const PackedF32 column{stage(bias, count), Packing::rows};
    unpack_from(column, to.bias, 1, count, 1, {Packing::rows, part.first, part.outputs, {}});
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
