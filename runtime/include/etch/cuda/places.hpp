// SPDX-License-Identifier: Apache-2.0
// Where everything lies in one allocation of device memory: parts handed out one after the other. Weights and buffers
// are described by a walk that asks for each part; with Places it lays them out, and without memory, in a constant
// expression, it tells how many bytes that takes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/cuda/ops.hpp"
#include "etch/ops/linear.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

inline constexpr std::size_t kPlaceAlignment = 256;  // bytes: what cuBLASLt's fastest algorithms want

class Places {
  public:
    // `memory` may be null: then every pointer is.
    constexpr explicit Places(std::uint8_t* memory) noexcept : memory_(memory) {}

    template <class T>
    constexpr T* take(std::size_t count) noexcept {
        const std::size_t at = bytes_;
        bytes_ += round_up(count * sizeof(T), kPlaceAlignment);
        return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + at);
    }

    constexpr std::size_t bytes() const noexcept { return bytes_; }

    constexpr F32Rows f32(std::size_t rows, std::uint32_t width) noexcept { return {take<float>(rows * width), width}; }
    constexpr S8Rows s8(std::size_t rows, std::uint32_t width) noexcept {
        std::int8_t* const q = take<std::int8_t>(rows * padded(width));
        return {q, take<float>(rows), padded(width)};
    }
    constexpr Bf16Rows bf16(std::size_t rows, std::uint32_t width) noexcept {
        return {take<Bf16>(rows * padded(width)), padded(width)};
    }
    constexpr S8Heads s8_heads(const Heads& heads, std::uint32_t places) noexcept {
        std::int8_t* const q = take<std::int8_t>(s8_heads_bytes(heads, places));
        return {q, take<float>(s8_heads_scales(heads, places)), places};
    }

  private:
    std::uint8_t* memory_;
    std::size_t bytes_ = 0;
};

// The walk over the weights: each member places a part; Upload fills it, too. Parts of a stack are one matrix, the
// outputs of the one below those of the other.
class WeightPlaces {
  public:
    constexpr explicit WeightPlaces(std::uint8_t* memory) noexcept : places_(memory) {}

    constexpr std::size_t bytes() const noexcept { return places_.bytes(); }

    // Bytes of the largest part as the tables hold it: what uploading needs beside.
    constexpr std::size_t staging_bytes() const noexcept { return staging_; }

    constexpr void embedding(S8Embedding& to, const S8Embedding& from, std::size_t entries,
                             std::uint32_t width) noexcept {
        const std::int8_t* const table = places_.take<std::int8_t>(table_bytes(from, entries, width));
        const float* const scales = places_.take<float>(entries);
        const bool of_4_bits = from.factors != nullptr;
        to = {table, scales, of_4_bits ? places_.take<std::uint8_t>(factor_count(from, entries, width)) : nullptr};
    }
    constexpr void embedding(F32Embedding& to, const F32Embedding&, std::size_t entries, std::uint32_t width) noexcept {
        to = {places_.take<float>(entries * width)};
    }

    constexpr void norm(LayerNormWeights& to, const LayerNormWeights& from, std::uint32_t width) noexcept {
        const float* const gamma = places_.take<float>(width);
        to = {gamma, places_.take<float>(width), from.epsilon, from.inverse_width};
    }

    constexpr void linear(F32Linear& to, const F32Weights& from, Packing packing) noexcept {
        const float* const weights = places_.take<float>(packed_f32_elements(packing, from.outputs, from.inputs));
        to = {weights, places_.take<float>(from.outputs), from.outputs, from.inputs, packing};
    }

    template <class Linear, class Weights>
    constexpr void linear(Linear& to, const Weights& from, Packing packing) noexcept {
        stage(from, packing);
        place(to, from.outputs, from.inputs);
    }

    // Query, key and value as one matrix; a bf16 one pads each head.
    template <class Linear, class Weights>
    constexpr void stack(Linear& to, const Heads& heads, const Weights& query, const Weights& key, const Weights& value,
                         Packing packing) noexcept {
        stage(query, packing);
        stage(key, packing);
        stage(value, packing);
        place(to, 3 * heads.heads * stored_width(to, heads), query.inputs);
    }

    // The linear that reads what attention wrote.
    template <class Linear, class Weights>
    constexpr void after_heads(Linear& to, const Heads& heads, const Weights& from, Packing packing) noexcept {
        stage(from, packing);
        place(to, from.outputs, heads.heads * stored_width(to, heads));
    }

    // Of an embedding table, which keeps its bits on the device.
    static constexpr std::size_t table_bytes(const S8Embedding& from, std::size_t entries,
                                             std::uint32_t width) noexcept {
        return from.factors == nullptr ? entries * width : packed_s4_bytes(Packing::rows, entries, width);
    }
    static constexpr std::size_t factor_count(const S8Embedding& from, std::size_t entries,
                                              std::uint32_t width) noexcept {
        return from.factors == nullptr ? 0 : packed_s4_factors(Packing::rows, entries, width);
    }

    static constexpr std::uint32_t stored_width(const S8Linear&, const Heads& heads) noexcept { return heads.width; }
    static constexpr std::uint32_t stored_width(const Bf16Linear&, const Heads& heads) noexcept {
        return padded(heads.width);
    }

  private:
    constexpr void place(S8Linear& to, std::uint32_t outputs, std::uint32_t inputs) noexcept {
        const std::int8_t* const weights = places_.take<std::int8_t>(std::size_t{padded(outputs)} * padded(inputs));
        const float* const scales = places_.take<float>(outputs);
        to = {weights, scales, places_.take<float>(outputs), outputs, inputs};
    }
    constexpr void place(Bf16Linear& to, std::uint32_t outputs, std::uint32_t inputs) noexcept {
        const Bf16* const weights = places_.take<Bf16>(std::size_t{padded(outputs)} * padded(inputs));
        to = {weights, places_.take<Bf16>(padded(outputs)), outputs, inputs};
    }

    // A packed matrix, the factors of one of 4 bits, a float for each output.
    constexpr void stage(const S8Weights& from, Packing packing) noexcept {
        if (from.factors == nullptr) {
            stage(packed_s8_bytes(packing, from.outputs, from.inputs), 0, from.outputs);
        } else {
            stage(packed_s4_bytes(packing, from.outputs, from.inputs),
                  packed_s4_factors(packing, from.outputs, from.inputs), from.outputs);
        }
    }
    constexpr void stage(const F32Weights& from, Packing packing) noexcept {
        stage(packed_f32_elements(packing, from.outputs, from.inputs) * sizeof(float), 0, from.outputs);
    }
    constexpr void stage(std::size_t packed, std::size_t factors, std::size_t outputs) noexcept {
        const std::size_t bytes =
            round_up(packed, kPlaceAlignment) + round_up(factors, kPlaceAlignment) + outputs * sizeof(float);
        staging_ = bytes > staging_ ? bytes : staging_;
    }

    Places places_;
    std::size_t staging_ = 0;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
