// SPDX-License-Identifier: Apache-2.0
// The one form of model that GPUs run: BERT's encoder (Devlin et al., 2018) and a head on it, as templates over the
// model. NAME_cuda.cpp describes the model in a struct of static members:
//     kWidth, kInner, kLayers     values of a row, of the feed-forward part, layers
//     kHeads                      Heads
//     kActivation                 of the feed-forward part
//     kLimits, kTables            TokenLimits, and the Packing of the tables
//     kEmbeddings                 EmbeddingTables
//     layer(i)                    LayerTables
//     kHead                       FirstRowHead or PooledHead
// ExactEncoder and FastEncoder are its modes, as modes.hpp wants them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/cuda/model.hpp"
#include "etch/cuda/modes.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// --- a model's tables ------------------------------------------------------------------------------------------------

template <class Embedding>
struct EmbeddingTables {
    Embedding word;
    Embedding segment;
    Embedding position;
    LayerNormWeights norm;
};

template <class Weights>
struct LayerTables {
    Weights query;
    Weights key;
    Weights value;
    Weights attention_output;
    LayerNormWeights attention_norm;
    Weights intermediate;
    Weights output;
    LayerNormWeights output_norm;
};

// outputs = last(activation(hidden(first row of the text))). Of the last layer no other row is computed.
template <class Weights>
struct FirstRowHead {
    Weights hidden;
    Activation activation;
    F32Weights last;
};

// outputs = the rows of the text, pooled.
struct PooledHead {
    Pooling pooling;
};

// --- the same in device memory ---------------------------------------------------------------------------------------

// Products are of S8Linear in exact mode, of Bf16Linear in fast mode.
template <class Linear>
struct DeviceLayer {
    Linear projections;  // query, key and value in one matrix
    Linear attention_output;
    LayerNormWeights attention_norm;
    Linear intermediate;
    Linear output;
    LayerNormWeights output_norm;
};

template <class Head, class Linear>
struct DeviceHead;

template <class Weights, class Linear>
struct DeviceHead<FirstRowHead<Weights>, Linear> {
    Linear hidden;
    F32Linear last;

    template <class To>
    constexpr void place(To& to, const FirstRowHead<Weights>& from, Packing packing) noexcept {
        to.linear(hidden, from.hidden, packing);
        to.linear(last, from.last, packing);
    }
};

template <class Linear>
struct DeviceHead<PooledHead, Linear> {
    template <class To>
    constexpr void place(To&, const PooledHead&, Packing) noexcept {}
};

// The type of a constant, without const.
template <class Model>
using HeadOf = std::remove_const_t<decltype(Model::kHead)>;
template <class Model>
using EmbeddingsOf = std::remove_const_t<decltype(Model::kEmbeddings)>;

template <class Model, class Linear>
struct DeviceEncoder {
    EmbeddingsOf<Model> embeddings;
    DeviceLayer<Linear> layers[Model::kLayers];
    DeviceHead<HeadOf<Model>, Linear> head;

    // The walk over the weights: `to` finds a place for each, and fills it while they are uploaded.
    template <class To>
    static constexpr DeviceEncoder place(To& to) noexcept {
        constexpr const EmbeddingsOf<Model>& kFrom = Model::kEmbeddings;
        constexpr Packing kPacking = Model::kTables;
        DeviceEncoder model{};
        to.embedding(model.embeddings.word, kFrom.word, Model::kLimits.vocabulary, Model::kWidth);
        to.embedding(model.embeddings.segment, kFrom.segment, Model::kLimits.segments, Model::kWidth);
        to.embedding(model.embeddings.position, kFrom.position, Model::kLimits.max_tokens, Model::kWidth);
        to.norm(model.embeddings.norm, kFrom.norm, Model::kWidth);
        for (std::uint32_t i = 0; i < Model::kLayers; ++i) {
            const auto from = Model::layer(i);
            DeviceLayer<Linear>& layer = model.layers[i];
            to.stack(layer.projections, Model::kHeads, from.query, from.key, from.value, kPacking);
            to.after_heads(layer.attention_output, Model::kHeads, from.attention_output, kPacking);
            to.norm(layer.attention_norm, from.attention_norm, Model::kWidth);
            to.linear(layer.intermediate, from.intermediate, kPacking);
            to.linear(layer.output, from.output, kPacking);
            to.norm(layer.output_norm, from.output_norm, Model::kWidth);
        }
        model.head.place(to, Model::kHead, kPacking);
        return model;
    }
};

// --- what both modes know of a model ---------------------------------------------------------------------------------

template <class Model, class Head = HeadOf<Model>>
struct TaskHeadShape {  // FirstRowHead
    static constexpr bool kFirstRows = true;
    static constexpr std::uint32_t kHidden = Model::kHead.hidden.outputs;
    static constexpr std::uint32_t kOutputs = Model::kHead.last.outputs;
    static constexpr std::uint32_t kProducts = 1;
};

template <class Model>
struct TaskHeadShape<Model, PooledHead> {
    static constexpr bool kFirstRows = false;
    static constexpr std::uint32_t kHidden = 0;
    static constexpr std::uint32_t kOutputs = Model::kWidth;
    static constexpr std::uint32_t kProducts = 0;
};

// Floats of a text that a pass leaves, and products of different shape in it.
template <class Model>
inline constexpr std::uint32_t kEncoderOutputs = TaskHeadShape<Model>::kOutputs;
template <class Model>
inline constexpr std::uint32_t kEncoderProducts = 4 + TaskHeadShape<Model>::kProducts;

constexpr std::uint32_t wider(std::uint32_t a, std::uint32_t b) noexcept {
    return a > b ? a : b;
}

// Rows of each text that the second half of a layer works on, and where it puts them: of the last layer, where the head
// reads the first row only, that row; else all of them.
template <class Rows>
struct LayerRows {
    RowCount taken;   // among all rows
    RowCount needed;  // as they lie in `hidden`
    Rows hidden;
};

template <class Model, class Rows>
LayerRows<Rows> rows_of_layer(std::uint32_t layer, const Input& input, const Pass& pass, const Rows& all,
                              const Rows& first) noexcept {
    if (TaskHeadShape<Model>::kFirstRows && layer + 1 == Model::kLayers)
        return {first_row_of_each_text(input, pass), row_of_each_text(input, pass), first};
    return {all_rows(input, pass), all_rows(input, pass), all};
}

// --- modes -----------------------------------------------------------------------------------------------------------

// 8-bit products: the bits of the CPU.
template <class Of>
struct ExactEncoder {
    static constexpr Mode kMode = Mode::exact;
    using Model = DeviceEncoder<Of, S8Linear>;
    using Shape = TaskHeadShape<Of>;

    static constexpr std::uint32_t kWidth = Of::kWidth;
    static constexpr std::uint32_t kInner = Of::kInner;
    static constexpr Heads kHeads = Of::kHeads;
    static constexpr std::uint32_t kWidestProduct = padded(wider(wider(3 * kWidth, kInner), Shape::kHidden));

    // A session's device memory.
    struct Buffers : SessionPlaces {
        using SessionPlaces::SessionPlaces;

        F32Rows hidden = at.f32(most.rows, kWidth);
        S8Rows hidden_q = at.s8(most.rows, kWidth);
        std::int32_t* sums =
            at.take<std::int32_t>(std::size_t{most.rows} * kWidestProduct);  // of one product at a time
        S8Heads heads = at.s8_heads(kHeads, most_places(most.rows, most.texts));
        F32Rows context = at.f32(most.rows, kWidth);
        S8Rows context_q = at.s8(most.rows, kWidth);
        S8Rows inner_q = at.s8(most.rows, kInner);
        F32Rows first = at.f32(Shape::kFirstRows ? most.texts : 0, kWidth);
        F32Rows head = at.f32(most.texts, Shape::kHidden);
        F32Rows result = at.f32(most.texts, Shape::kOutputs);

        const float* outputs() const noexcept { return result.data; }
    };

    // Tokens of every text -> the outputs of each.
    template <class Runner>
    static void forward(Runner& run, const Model& model, const Buffers& a, const Pass& pass) noexcept {
        const Input input = input_of(a.input, pass.rows);
        const RowCount rows = all_rows(input, pass);
        const S8Heads heads{a.heads.q, a.heads.scales, pass.places()};
        const S32Rows projections{a.sums, padded(3 * kWidth)};
        const S32Rows sums{a.sums, padded(kWidth)};
        const S32Rows inner{a.sums, padded(kInner)};
        const EmbeddingsOf<Of>& e = model.embeddings;
        run(EmbedAndNorm{input, rows, e.word, e.segment, e.position, e.norm, kWidth,
                         HiddenRows{a.hidden, a.hidden_q}});  // f32, s8 [rows, width]
        for (std::uint32_t i = 0; i < Of::kLayers; ++i) {
            const DeviceLayer<S8Linear>& layer = model.layers[i];
            run(ProductS8{rows, a.hidden_q, layer.projections, projections});  // s32 [rows, 3 * width]
            run(SplitProjections{input,
                                 rows,
                                 {projections, a.hidden_q.scales, layer.projections},
                                 kHeads,
                                 heads});  // s8 [3][heads][tokens, head width]
            const auto [taken, needed, hidden] = rows_of_layer<Of>(i, input, pass, a.hidden, a.first);
            run(AttentionS8{input, taken, pass, kHeads, heads, a.context});     // f32 [needed, width]
            run(QuantizeValues{needed, a.context, a.context_q});                // s8 [needed, width]
            run(ProductS8{needed, a.context_q, layer.attention_output, sums});  // s32 [needed, width]
            run(AddAndNorm{taken, Dequantized{sums, a.context_q.scales, layer.attention_output}, a.hidden,
                           layer.attention_norm, kWidth, HiddenRows{hidden, a.hidden_q}});  // f32, s8 [needed, width]
            run(ProductS8{needed, a.hidden_q, layer.intermediate, inner});                  // s32 [needed, inner]
            run(Activate{needed, Dequantized{inner, a.hidden_q.scales, layer.intermediate}, Of::kActivation, kInner,
                         a.inner_q});                               // s8 [needed, inner]
            run(ProductS8{needed, a.inner_q, layer.output, sums});  // s32 [needed, width]
            run(AddAndNorm{needed, Dequantized{sums, a.inner_q.scales, layer.output}, hidden, layer.output_norm, kWidth,
                           HiddenRows{hidden, a.hidden_q}});  // f32, s8 [needed, width]
        }
        const RowCount texts = row_of_each_text(input, pass);
        if constexpr (Shape::kFirstRows) {
            finish(run, model, texts, a);
        } else {
            run(PoolRows{input, texts, Of::kHead.pooling, a.hidden, a.result});  // f32 [texts, width]
        }
    }

  private:
    template <class Runner>
    static void finish(Runner& run, const Model& model, const RowCount& texts, const Buffers& a) noexcept {
        const S32Rows sums{a.sums, padded(Shape::kHidden)};
        run(ProductS8{texts, a.hidden_q, model.head.hidden, sums});  // s32 [texts, hidden]
        run(Activate{texts, Dequantized{sums, a.hidden_q.scales, model.head.hidden}, Of::kHead.activation,
                     Shape::kHidden, a.head});                      // f32 [texts, hidden]
        run(LinearRows{texts, model.head.last, a.head, a.result});  // f32 [texts, outputs]
    }
};

// Products of bf16. What cuBLASLt cannot add to a product is an op of its own.
template <class Of>
struct FastEncoder {
    static constexpr Mode kMode = Mode::fast;
    using Model = DeviceEncoder<Of, Bf16Linear>;
    using Shape = TaskHeadShape<Of>;

    static constexpr std::uint32_t kWidth = Of::kWidth;
    static constexpr std::uint32_t kInner = Of::kInner;
    static constexpr Heads kHeads = Of::kHeads;
    static constexpr std::uint32_t kPaddedHeads = kHeads.heads * padded(kHeads.width);

    // A session's device memory. Attention reads whole tiles of tokens, past the end of a text.
    struct Buffers : SessionPlaces {
        using SessionPlaces::SessionPlaces;

        Bf16Rows hidden = at.bf16(most.rows, kWidth);
        Bf16Rows projections = at.bf16(most.rows + kTile, 3 * kPaddedHeads);
        Bf16Rows context = at.bf16(most.rows, kPaddedHeads);
        Bf16* sums =
            at.take<Bf16>(std::size_t{most.rows} * padded(wider(kWidth, Shape::kHidden)));  // of one product at a time
        Bf16Rows inner = at.bf16(most.rows, kInner);
        Bf16Rows first = at.bf16(Shape::kFirstRows ? bucket(most.texts) : 0, kWidth);
        F32Rows head = at.f32(most.texts, Shape::kHidden);
        F32Rows result = at.f32(most.texts, Shape::kOutputs);

        const float* outputs() const noexcept { return result.data; }
    };

    // Tokens of every text -> the outputs of each.
    template <class Runner>
    static void forward(Runner& run, const Model& model, const Buffers& a, const Pass& pass) noexcept {
        const Input input = input_of(a.input, pass.rows);
        const RowCount rows = all_rows(input, pass);
        const Bf16Rows sums{a.sums, padded(kWidth)};
        const EmbeddingsOf<Of>& e = model.embeddings;
        run(EmbedAndNorm{input, rows, e.word, e.segment, e.position, e.norm, kWidth, a.hidden});  // bf16 [rows, width]
        for (std::uint32_t i = 0; i < Of::kLayers; ++i) {
            const DeviceLayer<Bf16Linear>& layer = model.layers[i];
            run(ProductBf16{rows, a.hidden, layer.projections, Epilogue::bias, a.projections});
            const auto [taken, needed, hidden] = rows_of_layer<Of>(i, input, pass, a.hidden, a.first);
            run(AttentionBf16{input, taken, pass, kHeads, a.projections, a.context});
            run(ProductBf16{needed, a.context, layer.attention_output, Epilogue::bias, sums});
            run(AddAndNorm{taken, sums, a.hidden, layer.attention_norm, kWidth, hidden});
            run(ProductBf16{needed, hidden, layer.intermediate, epilogue(Of::kActivation), a.inner});
            if constexpr (!has_epilogue(Of::kActivation))
                run(Activate{needed, a.inner, Of::kActivation, kInner, a.inner});
            run(ProductBf16{needed, a.inner, layer.output, Epilogue::bias, sums});
            run(AddAndNorm{needed, sums, hidden, layer.output_norm, kWidth, hidden});
        }
        const RowCount texts = row_of_each_text(input, pass);
        if constexpr (Shape::kFirstRows) {
            finish(run, model, texts, a);
        } else {
            run(PoolRows{input, texts, Of::kHead.pooling, a.hidden, a.result});  // f32 [texts, width]
        }
    }

  private:
    // Its GELU is the tanh form, which bf16 can hardly tell from the other.
    static constexpr Epilogue epilogue(Activation activation) noexcept {
        switch (activation) {
            case Activation::relu:
                return Epilogue::bias_relu;
            case Activation::gelu:
            case Activation::gelu_tanh:
                return Epilogue::bias_gelu;
            default:
                return Epilogue::bias;
        }
    }
    static constexpr bool has_epilogue(Activation activation) noexcept {
        return activation == Activation::none || epilogue(activation) != Epilogue::bias;
    }

    template <class Runner>
    static void finish(Runner& run, const Model& model, const RowCount& texts, const Buffers& a) noexcept {
        const Bf16Rows sums{a.sums, padded(Shape::kHidden)};
        run(ProductBf16{texts, a.first, model.head.hidden, Epilogue::bias, sums});
        run(Activate{texts, sums, Of::kHead.activation, Shape::kHidden, a.head});
        run(LinearRows{texts, model.head.last, a.head, a.result});
    }
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
