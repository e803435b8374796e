// SPDX-License-Identifier: Apache-2.0
// The smallest model that has a bit of everything: an embedding, one product, the first row of each text. Opening it
// takes so few calls that each can be made to fail in turn.
#pragma once

#include <cstdint>

#include "agnews_weights.hpp"
#include "etch/cuda/model.hpp"

namespace etch::testing {

inline constexpr std::uint32_t kSmallWidth = 16;
inline constexpr std::uint32_t kSmallTokens = 40;  // two buckets
inline constexpr std::uint32_t kSmallVocabulary = 9000;

struct SmallModel {
    S8Embedding word;
    S8Embedding segment;
    S8Embedding position;
    LayerNormWeights norm;
    cuda::S8Linear linear;
};

// The tables of the default model, read as those of a narrower one.
template <class To>
constexpr SmallModel small_model(To& to) noexcept {
    SmallModel model{};
    to.embedding(model.word, agnews::kWordEmbeddings, kSmallVocabulary, kSmallWidth);
    to.embedding(model.segment, agnews::kSegmentEmbeddings, 2, kSmallWidth);
    to.embedding(model.position, agnews::kPositionEmbeddings, kSmallTokens, kSmallWidth);
    to.norm(model.norm, agnews::kEmbeddingNorm, kSmallWidth);
    S8Weights narrow = agnews::kPooler;
    narrow.outputs = narrow.inputs = kSmallWidth;
    to.linear(model.linear, narrow, Packing::panel);
    return model;
}

struct SmallBuffers {
    SmallBuffers(std::uint8_t* memory, const cuda::Capacity& most) noexcept
        : at(memory),
          input(at.take<std::uint8_t>(cuda::input_bytes(most.rows, most.texts))),
          hidden(at.f32(most.rows, kSmallWidth)),
          hidden_q(at.s8(most.rows, kSmallWidth)),
          sums(at.take<std::int32_t>(std::size_t{most.rows} * kSmallWidth)),
          projected(at.f32(most.rows, kSmallWidth)),
          pooled(at.f32(most.texts, kSmallWidth)) {}

    cuda::Places at;
    std::uint8_t* input;
    F32Rows hidden;
    cuda::S8Rows hidden_q;
    std::int32_t* sums;
    F32Rows projected;
    F32Rows pooled;
};

inline void small_forward(cuda::Runner& run, cuda::Mode, std::uint8_t* weights, std::uint8_t* memory,
                          const cuda::Capacity& most, const cuda::Pass& pass) noexcept {
    cuda::WeightPlaces to(weights);
    const SmallModel model = small_model(to);
    const SmallBuffers a(memory, most);
    const cuda::Input input = cuda::input_of(a.input, pass.rows);
    const cuda::RowCount rows = cuda::all_rows(input, pass);
    const cuda::S32Rows sums{a.sums, kSmallWidth};
    run(cuda::EmbedAndNorm{input, rows, model.word, model.segment, model.position, model.norm, kSmallWidth,
                           cuda::HiddenRows{a.hidden, a.hidden_q}});
    for (int layer = 0; layer < 2; ++layer)  // two products of one shape
        run(cuda::ProductS8{rows, a.hidden_q, model.linear, sums});
    run(cuda::Activate{rows, cuda::Dequantized{sums, a.hidden_q.scales, model.linear}, Activation::tanh, kSmallWidth,
                       a.projected});
    run(cuda::PoolRows{input, cuda::row_of_each_text(input, pass), Pooling::first, a.projected, a.pooled});
}

inline constexpr cuda::ModelPlan kSmallModel{
    agnews::kTokenizer,
    {kSmallTokens, kSmallVocabulary, 2},
    kSmallWidth,
    1,
    true,
    [](cuda::Mode) noexcept {
        cuda::WeightPlaces to(nullptr);
        small_model(to);
        return to.bytes();
    },
    [](cuda::Mode) noexcept {
        cuda::WeightPlaces to(nullptr);
        small_model(to);
        return to.staging_bytes();
    },
    [](cuda::Upload& to, cuda::Mode) noexcept { small_model(to); },
    [](cuda::Mode, std::uint8_t* memory, const cuda::Capacity& most) noexcept {
        const SmallBuffers a(memory, most);
        return cuda::SessionMemory{a.input, a.pooled.data, a.at.bytes()};
    },
    small_forward,
};

}  // namespace etch::testing
