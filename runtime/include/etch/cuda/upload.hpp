// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/cuda/places.hpp"
#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// The walk of WeightPlaces, which fills each part from the model's tables: the table as it is goes into a temporary in
// device memory, a kernel unpacks it there. After a failure the members do nothing but place.
class Upload {
  public:
    // `stream` is a cudaStream_t; `staging` holds staging_bytes() of the walk's places.
    Upload(std::uint8_t* memory, std::uint8_t* staging, void* stream) noexcept
        : places_(memory), staging_(staging), stream_(stream) {}

    Status status() const noexcept { return status_; }

    void embedding(S8Embedding& to, const S8Embedding& from, std::size_t entries, std::uint32_t width) noexcept;
    void embedding(F32Embedding& to, const F32Embedding& from, std::size_t entries, std::uint32_t width) noexcept;
    void norm(LayerNormWeights& to, const LayerNormWeights& from, std::uint32_t width) noexcept;
    void linear(F32Linear& to, const F32Weights& from, Packing packing) noexcept;

    template <class Linear, class Weights>
    void linear(Linear& to, const Weights& from, Packing packing) noexcept {
        places_.linear(to, from, packing);
        clear(to);
        unpack(to, from, {packing, 0, {}, {}});
    }

    template <class Linear, class Weights>
    void stack(Linear& to, const Heads& heads, const Weights& query, const Weights& key, const Weights& value,
               Packing packing) noexcept {
        places_.stack(to, heads, query, key, value, packing);
        clear(to);
        const Groups groups{heads.width, WeightPlaces::stored_width(to, heads)};
        const std::uint32_t part = heads.heads * groups.stride;
        unpack(to, query, {packing, 0, groups, {}});
        unpack(to, key, {packing, part, groups, {}});
        unpack(to, value, {packing, 2 * part, groups, {}});
    }

    template <class Linear, class Weights>
    void after_heads(Linear& to, const Heads& heads, const Weights& from, Packing packing) noexcept {
        places_.after_heads(to, heads, from, packing);
        clear(to);
        unpack(to, from, {packing, 0, {}, {heads.width, WeightPlaces::stored_width(to, heads)}});
    }

  private:
    // Groups of `width` indices that take `stride` places each.
    struct Groups {
        std::uint32_t width = 1;
        std::uint32_t stride = 1;
    };

    struct Part {
        Packing packing;
        std::uint32_t first;  // output of the stack
        Groups outputs;
        Groups inputs;
    };

    void clear(const S8Linear& to) noexcept;
    void clear(const Bf16Linear& to) noexcept;
    void unpack(const S8Linear& to, const S8Weights& from, const Part& part) noexcept;
    void unpack(const Bf16Linear& to, const S8Weights& from, const Part& part) noexcept;
    void unpack(const Bf16Linear& to, const F32Weights& from, const Part& part) noexcept;
    void round_bias(const Bf16Linear& to, const float* bias, std::uint32_t count, const Part& part) noexcept;

    void copy(const void* to, const void* from, std::size_t bytes) noexcept;
    void zero(const void* to, std::size_t bytes) noexcept;
    template <class T>
    const T* stage(const T* from, std::size_t count) noexcept;
    template <class Use>
    void with_integers(const S8Weights& from, Packing packing, Use use) noexcept;
    // A matrix in the temporary to rows of `stride` values.
    template <class Source>
    void unpack_from(const Source& source, const typename Source::Value* to, std::uint32_t stride,
                     std::uint32_t outputs, std::uint32_t inputs, const Part& part) noexcept;
    template <class Kernel>
    void launch_kernel(const Kernel& kernel) noexcept;

    WeightPlaces places_;
    std::uint8_t* staging_;
    std::size_t staged_bytes_ = 0;  // of the temporary that are in use
    void* stream_;
    Status status_ = Status::ok;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
