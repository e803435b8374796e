// SPDX-License-Identifier: Apache-2.0
// The ops of generated code as kernels of our own and products of cuBLASLt.
#include "etch/cuda/runner.hpp"

#include "algorithms.hpp"
#include "kernels/launch.hpp"
#include "status_of.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {
namespace {

S32Source source_of(const Dequantized& d) noexcept {
    return {d.sums.sums, d.sums.stride, d.row_scales, d.linear.scales, d.linear.bias};
}
Bf16Source source_of(const Bf16Rows& rows) noexcept {
    return {rows.values, rows.stride};
}
F32Source source_of(const F32Rows& rows) noexcept {
    return {rows.data, rows.width};
}

S8Sink sink_of(const S8Rows& rows) noexcept {
    return {rows.q, rows.stride, rows.scales};
}
Bf16Sink sink_of(const Bf16Rows& rows) noexcept {
    return {rows.values, rows.stride};
}
F32Sink sink_of(const F32Rows& rows) noexcept {
    return {rows.data, rows.width};
}

QuantizedHeads heads_of(const S8Heads& to, const Heads& heads) noexcept {
    return {to.q, to.scales, heads.heads, heads.width, to.places};
}

AttentionShape shape_of(const Heads& heads) noexcept {
    return {heads.heads, heads.width, padded(heads.width), heads.score_scale};
}

// Rows of floats beside those that are written as products want them; in fast mode there are none.
F32Sink floats_of(const HiddenRows& rows) noexcept {
    return sink_of(rows.values);
}
F32Sink floats_of(const Bf16Rows&) noexcept {
    return {nullptr, 0};
}
S8Sink sink_of(const HiddenRows& rows) noexcept {
    return sink_of(rows.quantized);
}

template <class Op>
bool has_many_rows(const Op& op) noexcept {
    return op.rows.most >= kManyRows;
}

template <class Kernel, class Op>
Kernel embed_norm(const Op& op) noexcept {
    return {op.input.tokens,   op.word,         op.segment, op.position,    op.norm,
            floats_of(op.out), sink_of(op.out), op.width,   op.rows.number, op.rows.most};
}

template <class Kernel, class Op>
Kernel activate(const Op& op) noexcept {
    return {source_of(op.in), op.activation, sink_of(op.out), op.width, op.rows.number, op.rows.most};
}

template <class Kernel, class Op>
Kernel quantize(const Op& op) noexcept {
    return {source_of(op.in), Activation::none, sink_of(op.out), op.in.width, op.rows.number, op.rows.most};
}

template <class Kernel, class Op>
Kernel sum_norm(const Op& op) noexcept {
    return {source_of(op.in), source_of(op.residual), op.rows.first_rows, op.norm, floats_of(op.out), sink_of(op.out),
            op.width,         op.rows.number,         op.rows.most};
}

template <class Kernel, class Op>
Kernel fast_sum_norm(const Op& op) noexcept {
    return {source_of(op.in), source_of(op.residual), op.rows.first_rows, op.norm, sink_of(op.out),
            op.width,         op.rows.number,         op.rows.most};
}

template <class Kernel, class Op>
Kernel pool(const Op& op) noexcept {
    return {op.kind, source_of(op.in), op.input.texts, op.out.data, op.out.width, op.texts.number, op.texts.most};
}

// `work`: query rows of a block, or how many warps share a tile of them; kernels with a fixed share of work have none.
template <class Kernel, class Heads, class Op, class... Work>
Kernel attention(const Heads& heads, const Op& op, Work... work) noexcept {
    return {heads,        op.input.texts,  op.rows.first_rows != nullptr,
            work...,      op.pass.longest, &op.input.counts->texts,
            op.pass.texts};
}

template <class Heads, class Op>
std::uint32_t query_rows(const Heads& heads, const Op& op) noexcept {
    if (op.rows.first_rows != nullptr) return kTile;
    return attention_query_rows(op.pass.longest, heads.shape.stride, heads.shape.heads, op.pass.texts,
                                sizeof(typename Heads::Value));
}

}  // namespace

template <class Product>
void Runner::multiply(const Product& product) noexcept {
    if (status_ != Status::ok) return;
    const Matmul matmul = matmul_of(product);
    const auto library = static_cast<cublasLtHandle_t>(tools_.library);
    Algorithms::Entry& entry = tools_.algorithms->entry_of(matmul);
    if (!asks_) {
        status_ = status_of(cuda::multiply(library, matmul, entry.algorithm, tools_.workspace, tools_.workspace_bytes,
                                           static_cast<cudaStream_t>(tools_.stream)));
    } else if (entry.rows == 0) {
        entry = {matmul.rows, matmul.outputs, matmul.inputs, matmul.kind, {}};
        status_ = status_of(ask(library, matmul, tools_.workspace_bytes, entry.algorithm));
    }
}

template <class Kernel>
void Runner::start(const Kernel& kernel) noexcept {
    if (status_ != Status::ok || asks_) return;
    if (kernel.shared_bytes() > kMostSharedBytes) {
        status_ = Status::shape_not_supported;
        return;
    }
    status_ = status_of(launch(kernel, static_cast<cudaStream_t>(tools_.stream)));
}

void Runner::operator()(const ProductS8& op) noexcept {
    multiply(op);
}

void Runner::operator()(const ProductBf16& op) noexcept {
    multiply(op);
}

void Runner::operator()(const EmbedAndNorm<S8Embedding, HiddenRows>& op) noexcept {
    if (has_many_rows(op)) return start(embed_norm<EmbedNormExactByWarps>(op));
    start(embed_norm<EmbedNormExact>(op));
}

void Runner::operator()(const EmbedAndNorm<S8Embedding, Bf16Rows>& op) noexcept {
    if (has_many_rows(op)) return start(embed_norm<EmbedNormFastByWarps>(op));
    start(embed_norm<EmbedNormFast>(op));
}

void Runner::operator()(const EmbedAndNorm<F32Embedding, Bf16Rows>& op) noexcept {
    if (has_many_rows(op)) return start(embed_norm<EmbedNormFastF32ByWarps>(op));
    start(embed_norm<EmbedNormFastF32>(op));
}

void Runner::operator()(const SplitProjections& op) noexcept {
    start(SplitHeads{source_of(op.in), op.input.tokens, op.input.texts, heads_of(op.out, op.heads), op.rows.number,
                     op.rows.most});
}

void Runner::operator()(const AttentionS8& op) noexcept {
    const ExactHeads heads{shape_of(op.heads), heads_of(op.in, op.heads), op.context.data, op.context.width};
    if (exact_attention_streams(op.pass.longest, heads.shape.heads, op.pass.texts)) {
        switch (heads.shape.head_width) {
            case 32:
                return start(attention<AttentionExact32>(heads, op));
            case 64:
                return start(attention<AttentionExact64>(heads, op));
            case 128:
                return start(attention<AttentionExact128>(heads, op));
        }
    }
    start(attention<AttentionExact>(heads, op, query_rows(heads, op)));
}

void Runner::operator()(const AttentionBf16& op) noexcept {
    const FastHeads heads{shape_of(op.heads), op.in.values, op.in.stride, op.context.values, op.context.stride};
    const std::uint32_t longest = op.rows.first_rows != nullptr ? kTile : op.pass.longest;
    const std::uint32_t splits = fast_attention_splits(longest, heads.shape.heads, op.pass.texts);
    switch (heads.shape.stride) {
        case 32:
            return start(attention<AttentionFast32>(heads, op, splits));
        case 64:
            return start(attention<AttentionFast64>(heads, op, splits));
        case 128:
            return start(attention<AttentionFast128>(heads, op, splits));
        default:
            return start(attention<AttentionFast>(heads, op, query_rows(heads, op)));
    }
}

void Runner::operator()(const QuantizeValues& op) noexcept {
    if (has_many_rows(op)) return start(quantize<QuantizeRowsByWarps>(op));
    start(quantize<QuantizeRows>(op));
}

void Runner::operator()(const Activate<Dequantized, S8Rows>& op) noexcept {
    start(activate<ActivateExact>(op));
}

void Runner::operator()(const Activate<Dequantized, F32Rows>& op) noexcept {
    start(activate<ActivateExactToF32>(op));
}

void Runner::operator()(const Activate<Bf16Rows, Bf16Rows>& op) noexcept {
    start(activate<ActivateFast>(op));
}

void Runner::operator()(const Activate<Bf16Rows, F32Rows>& op) noexcept {
    start(activate<ActivateFastToF32>(op));
}

void Runner::operator()(const AddAndNorm<Dequantized, F32Rows, HiddenRows>& op) noexcept {
    if (has_many_rows(op)) return start(sum_norm<SumNormExactByWarps>(op));
    start(sum_norm<SumNormExact>(op));
}

void Runner::operator()(const AddAndNorm<Bf16Rows, Bf16Rows, Bf16Rows>& op) noexcept {
    if (op.out.stride == op.width) {
        switch ((op.width + SumNormFast256::kColumnsOfTurn - 1) / SumNormFast256::kColumnsOfTurn) {
            case 1:
                return start(fast_sum_norm<SumNormFast256>(op));
            case 2:
                return start(fast_sum_norm<SumNormFast512>(op));
            case 3:
                return start(fast_sum_norm<SumNormFast768>(op));
            case 4:
                return start(fast_sum_norm<SumNormFast1024>(op));
        }
    }
    start(sum_norm<SumNormFast>(op));
}

void Runner::operator()(const PoolRows<F32Rows>& op) noexcept {
    start(pool<Pool<F32Source>>(op));
}

void Runner::operator()(const PoolRows<Bf16Rows>& op) noexcept {
    start(pool<Pool<Bf16Source>>(op));
}

void Runner::operator()(const LinearRows& op) noexcept {
    start(LinearRowsF32{op.in.data, op.linear.weights, op.linear.packing, op.linear.bias, op.out.data, op.linear.inputs,
                        op.linear.outputs, op.rows.number, op.rows.most});
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
