// SPDX-License-Identifier: Apache-2.0
// The plan of a generated model, made of its modes. NAME_cuda.cpp defines a struct for each:
//     Mode kMode                        which
//     struct Model                      the weights in device memory; place(to) -> Model is the walk over them, `to`
//     one
//                                       of WeightPlaces and Upload
//     struct Buffers                    SessionPlaces and behind them a session's buffers, of which outputs() is
//                                       f32 [texts][ModelPlan::outputs]
//     forward(run, model, buffers, pass)  tokens of every text -> the outputs of each
//
// All are static but the members of Buffers. forward() is a template over the runner: any object that takes the ops.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/cuda/model.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// The walk over a session's device memory, and what begins it: where the input of a pass is copied to.
struct SessionPlaces {
    constexpr SessionPlaces(std::uint8_t* memory, const Capacity& capacity) noexcept : at(memory), most(capacity) {}

    Places at;
    Capacity most;
    std::uint8_t* input = at.take<std::uint8_t>(input_bytes(most.rows, most.texts));
};

// Where the weights of a mode lie, from address 0 on.
template <class OneMode>
constexpr WeightPlaces weight_places() noexcept {
    WeightPlaces to(nullptr);
    OneMode::Model::place(to);
    return to;
}

// Each function is for the mode that it is given; for one that the model does not have it does nothing.
template <class... Modes>
class ModesOf {
  public:
    static constexpr ModelPlan plan(const BertTokenizer& tokenizer, const TokenLimits& limits, std::uint32_t outputs,
                                    std::uint32_t products) noexcept {
        return {tokenizer,     limits,        outputs, products, has(Mode::exact),
                weights_bytes, staging_bytes, upload,  lay_out,  forward<Runner>};
    }

    static std::size_t weights_bytes(Mode mode) noexcept {
        std::size_t bytes = 0;
        with(mode, [&](auto one) { bytes = kPlaces<decltype(one)>.bytes(); });
        return bytes;
    }

    // `weights` and `memory` as plan().weights_bytes() and plan().lay_out() want them.
    template <class AnyRunner>
    static void forward(AnyRunner& run, Mode mode, std::uint8_t* weights, std::uint8_t* memory,
                        const Capacity& capacity, const Pass& pass) noexcept {
        with(mode, [&](auto one) {
            using One = decltype(one);
            WeightPlaces to(weights);
            One::forward(run, One::Model::place(to), typename One::Buffers(memory, capacity), pass);
        });
    }

  private:
    template <class One>
    static constexpr WeightPlaces kPlaces = weight_places<One>();

    static constexpr bool has(Mode mode) noexcept { return ((Modes::kMode == mode) || ...); }

    template <class Use>
    static void with(Mode mode, const Use& use) noexcept {
        ((Modes::kMode == mode ? use(Modes{}) : void()), ...);
    }

    static std::size_t staging_bytes(Mode mode) noexcept {
        std::size_t bytes = 0;
        with(mode, [&](auto one) { bytes = kPlaces<decltype(one)>.staging_bytes(); });
        return bytes;
    }

    static void upload(Upload& to, Mode mode) noexcept {
        with(mode, [&](auto one) { decltype(one)::Model::place(to); });
    }

    static SessionMemory lay_out(Mode mode, std::uint8_t* memory, const Capacity& capacity) noexcept {
        SessionMemory parts{};
        with(mode, [&](auto one) {
            const typename decltype(one)::Buffers a(memory, capacity);
            parts = {a.input, a.outputs(), a.at.bytes()};
        });
        return parts;
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
