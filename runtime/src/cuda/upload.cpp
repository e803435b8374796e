// SPDX-License-Identifier: Apache-2.0
#include "etch/cuda/upload.hpp"

#include <cuda_runtime_api.h>

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
    copy(to.table, from.table, entries * width);
    copy(to.scales, from.scales, entries * sizeof(float));
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

void Upload::unpack(const S8Linear& to, const S8Weights& from, const Part& part) noexcept {
    copy(staging_, from.weights, packed_s8_bytes(part.packing, from.outputs, from.inputs));
    const PackedS8 table{reinterpret_cast<const std::int8_t*>(staging_), part.packing};
    unpack_from(table, to.weights, padded(to.inputs), from.outputs, from.inputs, part);
    copy(to.scales + part.first, from.scales, from.outputs * sizeof(float));
    if (from.bias != nullptr) copy(to.bias + part.first, from.bias, from.outputs * sizeof(float));
}

void Upload::unpack(const Bf16Linear& to, const S8Weights& from, const Part& part) noexcept {
    const std::size_t bytes = packed_s8_bytes(part.packing, from.outputs, from.inputs);
    float* const scales = reinterpret_cast<float*>(staging_ + round_up(bytes, kPlaceAlignment));
    copy(staging_, from.weights, bytes);
    copy(scales, from.scales, from.outputs * sizeof(float));
    const ScaledS8 table{reinterpret_cast<const std::int8_t*>(staging_), part.packing, scales};
    unpack_from(table, to.weights, padded(to.inputs), from.outputs, from.inputs, part);
    round_bias(to, from.bias, from.outputs, part);
}

void Upload::unpack(const Bf16Linear& to, const F32Weights& from, const Part& part) noexcept {
    copy(staging_, from.weights, packed_f32_elements(part.packing, from.outputs, from.inputs) * sizeof(float));
    const PackedF32 table{reinterpret_cast<const float*>(staging_), part.packing};
    unpack_from(table, to.weights, padded(to.inputs), from.outputs, from.inputs, part);
    round_bias(to, from.bias, from.outputs, part);
}

void Upload::round_bias(const Bf16Linear& to, const float* bias, std::uint32_t count, const Part& part) noexcept {
    if (bias == nullptr) return;
    copy(staging_, bias, count * sizeof(float));
    const PackedF32 column{reinterpret_cast<const float*>(staging_), Packing::rows};
    unpack_from(column, to.bias, 1, count, 1, {Packing::rows, part.first, part.outputs, {}});
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
