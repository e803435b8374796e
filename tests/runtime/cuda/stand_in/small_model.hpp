// SPDX-License-Identifier: Apache-2.0
// The smallest model that has a bit of everything: an embedding, one product, the first row of each text. Opening it
// takes so few calls that each can be made to fail in turn.
#pragma once

#include <cstdint>

#include "agnews_weights.hpp"
#include "etch/cuda/modes.hpp"

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

    // The tables of the default model, read as those of a narrower one.
    template <class To>
    static constexpr SmallModel place(To& to) noexcept {
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
};

struct SmallExact {
    static constexpr cuda::Mode kMode = cuda::Mode::exact;
    using Model = SmallModel;

    struct Buffers : cuda::SessionPlaces {
        using SessionPlaces::SessionPlaces;

        F32Rows hidden = at.f32(most.rows, kSmallWidth);
        cuda::S8Rows hidden_q = at.s8(most.rows, kSmallWidth);
        std::int32_t* sums = at.take<std::int32_t>(std::size_t{most.rows} * kSmallWidth);
        F32Rows projected = at.f32(most.rows, kSmallWidth);
        F32Rows pooled = at.f32(most.texts, kSmallWidth);

        const float* outputs() const noexcept { return pooled.data; }
    };

    template <class Runner>
    static void forward(Runner& run, const Model& model, const Buffers& a, const cuda::Pass& pass) noexcept {
        const cuda::Input input = cuda::input_of(a.input, pass.rows);
        const cuda::RowCount rows = cuda::all_rows(input, pass);
        const cuda::S32Rows sums{a.sums, kSmallWidth};
        run(cuda::EmbedAndNorm{input, rows, model.word, model.segment, model.position, model.norm, kSmallWidth,
                               cuda::HiddenRows{a.hidden, a.hidden_q}});
        for (int layer = 0; layer < 2; ++layer)  // two products of one shape
            run(cuda::ProductS8{rows, a.hidden_q, model.linear, sums});
        run(cuda::Activate{rows, cuda::Dequantized{sums, a.hidden_q.scales, model.linear}, Activation::tanh,
                           kSmallWidth, a.projected});
        run(cuda::PoolRows{input, cuda::row_of_each_text(input, pass), Pooling::first, a.projected, a.pooled});
    }
};

inline constexpr cuda::ModelPlan kSmallModel =
    cuda::ModesOf<SmallExact>::plan(agnews::kTokenizer, {kSmallTokens, kSmallVocabulary, 2}, kSmallWidth, 1);

}  // namespace etch::testing
