// SPDX-License-Identifier: Apache-2.0
// Each op of the default model's forward pass sees its own operands and nothing else of the arena: the rest is poisoned
// for AddressSanitizer while it runs. The generated source is compiled into this file, so that its forward() can be
// given another runner.
#include <sanitizer/asan_interface.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "agnews.cpp"  // NOLINT(bugprone-suspicious-include)
#include "texts.hpp"

namespace etch {
namespace agnews {
namespace {

class OperandsOnly {
  public:
    OperandsOnly(const OpContext& context, Workspace& workspace) : context_(context), workspace_(workspace) {}

    template <class Op>
    void operator()(const Op& op) const noexcept {
        ASAN_POISON_MEMORY_REGION(workspace_.arena, sizeof workspace_.arena);
        allow(context_.scratch, kScratchBytes);
        allow_operands(op);
        op.run(context_, 0, op.units());
        ASAN_UNPOISON_MEMORY_REGION(workspace_.arena, sizeof workspace_.arena);
        ++ops;
    }

    mutable int ops = 0;

  private:
    static void allow(const void* data, std::size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(data, bytes); }
    static void allow(const F32Rows& rows, std::uint32_t count) {
        if (rows.data != nullptr) allow(rows.data, std::size_t{count} * rows.width * sizeof(float));
    }
    static void allow(const QuantizedRows& rows, std::uint32_t count) {
        allow(rows.data, count * rows.stride_bytes);
        allow(rows.scales, count * sizeof(float));
    }
    static void allow(const Texts& texts) { allow(texts.texts, texts.count * sizeof *texts.texts); }
    static void allow(const S8HeadCache& cache, const HeadShape& shape, std::size_t head_bytes) {
        allow(cache.packed, shape.key_heads * head_bytes);
        allow(cache.scales, std::size_t{shape.key_heads} * shape.cache_tokens * sizeof(float));
    }

    static void allow_operands(const EmbeddingSum<S8Embedding>& op) {
        allow(op.texts);
        allow(op.ids, op.units() * sizeof *op.ids);
        allow(op.segments, op.units());
        allow(op.out, op.units());
    }
    static void allow_operands(const LayerNorm& op) {
        allow(op.input, op.count);
        allow(op.out, op.count);
    }
    static void allow_operands(const FirstRows& op) {
        allow(op.texts);
        allow(op.rows, op.texts.rows());
    }
    static void allow_operands(const Quantize& op) {
        allow(op.input, op.count);
        allow(op.out, op.count);
    }
    static void allow_operands(const LinearS8& op) {
        allow(op.input, op.count);
        allow(op.residual, op.count);
        allow(op.out, op.count);
    }
    static void allow_operands(const LinearF32& op) {
        allow(op.input, op.count);
        allow(op.residual, op.count);
        allow(op.out, op.count);
    }
    static void allow_operands(const PackKeysS8& op) {
        allow(op.texts);
        allow(op.input, op.block.count);
        allow(op.out, op.shape, s8_key_bytes(op.shape));
    }
    static void allow_operands(const PackValuesS8& op) {
        allow(op.texts);
        allow(op.input, op.block.count);
        allow(op.out, op.shape, s8_value_bytes(op.shape));
    }
    static void allow_operands(const AttentionS8& op) {
        allow(op.texts);
        allow(op.query, op.block.count);
        allow(op.context, op.block.count);
        allow(op.keys, op.shape, s8_key_bytes(op.shape));
        allow(op.values, op.shape, s8_value_bytes(op.shape));
    }

    OpContext context_;
    Workspace& workspace_;
};

int check() {
    const auto owner = std::make_unique<Workspace>();
    Workspace& workspace = *owner;
    int ops = 0;
    for (std::size_t kernel = 0; !usable_kernel(kernel).empty(); ++kernel) {
        if (select_kernel(workspace, usable_kernel(kernel)) != Status::ok) return 1;
        const auto same = [&](const std::string_view* texts, std::size_t count) {
            for (std::size_t done = 0; done < count;) {
                const Arena a{workspace.arena};
                Batch batch{};
                const TokenSink sink{a.ids, a.segments, nullptr, kMaxTokens};
                if (tokenize_batch(kTokenizer, texts + done, count - done, workspace.special_tokens, a.tokenizer, sink,
                                   a.texts, batch) != Status::ok) {
                    return false;
                }
                const OperandsOnly run(OpContext{*workspace.kernels, a.scratch}, workspace);
                float logits[most_texts(kMaxTokens)][kLabelCount];
                const Texts together{a.texts, batch.count};
                Encoder::forward(run, together, a);
                for (std::uint32_t text = 0; text < batch.count; ++text) {
                    Head::compute(run, together, text, a);
                    std::memcpy(logits[text], a.logits.data, sizeof logits[text]);
                }
                ops += run.ops;
                for (std::uint32_t text = 0; text < batch.count; ++text, ++done) {
                    Result result{};
                    if (classify(workspace, texts[done], result) != Status::ok) return false;
                    if (std::memcmp(logits[text], result.logits, sizeof result.logits) != 0) return false;
                }
            }
            return true;
        };
        constexpr std::size_t kTexts = sizeof promises::kShortTexts / sizeof promises::kShortTexts[0];
        for (const std::string_view text : promises::kShortTexts) {
            if (!same(&text, 1)) return 1;
        }
        const std::string_view middle = promises::kMiddleText;
        const std::string_view longest = promises::kLongText.view();
        if (!same(promises::kShortTexts, kTexts) || !same(&middle, 1)) return 1;
        if (kernel == 0 && !same(&longest, 1)) return 1;
    }
    std::printf("%d ops, each with its operands only: same bits\n", ops);
    return ops > 0 ? 0 : 1;
}

}  // namespace
}  // namespace agnews
}  // namespace etch

int main() {
    return etch::agnews::check();
}
