// SPDX-License-Identifier: Apache-2.0
// Kernels that work on whole rows, bit for bit against the CPU's scalar kernels and ops.
#include <optional>
#include <type_traits>

#include "device_array.hpp"
#include "etch/ops/embedding.hpp"
#include "etch/ops/row_ops.hpp"

namespace etch::testing {
namespace {

const std::vector<std::uint32_t> kBatches[] = {{1}, {37}, {3, 1, 17}};
constexpr std::uint32_t kWidths[] = {1, 15, 16, 33, 192, 384, 1024};

std::uint32_t padded(std::uint32_t width) {
    return static_cast<std::uint32_t>(round_up(width, kEncodedPadding));
}

class RowKernels : public KernelTest {
  protected:
    // What quantizing rows must give, and what a kernel gave.
    struct Quantized {
        std::vector<std::int8_t> q;
        std::vector<float> scales;
    };

    static Quantized quantized(const std::vector<float>& x, std::uint32_t width) {
        const auto rows = static_cast<std::uint32_t>(x.size() / width);
        Quantized to{std::vector<std::int8_t>(rows * padded(width)), std::vector<float>(rows)};
        for (std::uint32_t row = 0; row < rows; ++row) {
            to.scales[row] =
                kernels().quantize_row(x.data() + std::size_t{row} * width, width,
                                       reinterpret_cast<std::uint8_t*>(to.q.data() + std::size_t{row} * padded(width)));
        }
        return to;
    }

    class S8Out {
      public:
        S8Out(std::uint32_t rows, std::uint32_t width)
            : rows_(rows),
              stride_(padded(width)),
              q_(std::size_t{rows + kRowsBehind} * stride_),
              scales_(rows + kRowsBehind) {}
        cuda::S8Sink sink() const { return {q_.data(), stride_, scales_.data()}; }
        void expect(const Quantized& want) const {
            EXPECT_TRUE(same_bits(written(q_, std::size_t{rows_} * stride_), want.q));
            EXPECT_TRUE(same_bits(written(scales_, rows_), want.scales));
        }

      private:
        std::uint32_t rows_;
        std::uint32_t stride_;
        DeviceArray<std::int8_t> q_;
        DeviceArray<float> scales_;
    };

    // Sums of a product of quantized rows, and what they mean.
    struct Product {
        Product(std::uint32_t rows, std::uint32_t columns, bool with_bias)
            : width(columns), stride(padded(columns)), bias_given(with_bias) {
            Random random(11);
            for (std::uint32_t i = 0; i < rows * stride; ++i)
                host_sums.push_back(static_cast<std::int32_t>(random.bits() % 2000001u) - 1000000);
            host_row_scales = random.floats(rows, 1e-3f, 2e-3f);
            host_column_scales = random.floats(width, 1e-3f, 1e-3f);
            host_bias = random.floats(width, 3.0f);
            sums.emplace(host_sums);
            row_scales.emplace(host_row_scales);
            column_scales.emplace(host_column_scales);
            bias.emplace(host_bias);
        }
        cuda::S32Source source() const {
            return {sums->data(), stride, row_scales->data(), column_scales->data(),
                    bias_given ? bias->data() : nullptr};
        }
        float at(std::uint32_t row, std::uint32_t column) const {
            const float sum = static_cast<float>(host_sums[std::size_t{row} * stride + column]);
            const float scaled = (sum * host_row_scales[row]) * host_column_scales[column];
            return scaled + (bias_given ? host_bias[column] : 0.0f);
        }

        std::uint32_t width;
        std::uint32_t stride;
        bool bias_given;
        std::vector<std::int32_t> host_sums;
        std::vector<float> host_row_scales, host_column_scales, host_bias;
        std::optional<DeviceArray<std::int32_t>> sums;
        std::optional<DeviceArray<float>> row_scales, column_scales, bias;
    };

    static void apply(const NormOnDevice& norm, std::vector<float>& x) {
        for (std::size_t at = 0; at < x.size(); at += norm.width) {
            kernels().layer_norm_row(&x[at], &x[at], norm.width, norm.host_gamma.data(), norm.host_beta.data(),
                                     NormOnDevice::kEpsilon, norm.inverse_width());
        }
    }

    // check(kernel) with one of each, of which only the type counts.
    template <class ByBlocks, class ByWarps, class Check>
    static void by_blocks_and_by_warps(Check check) {
        check(ByBlocks{});
        check(ByWarps{});
    }

    static const KernelSet& kernels() { return scalar(Packing::rows); }
};

TEST_F(RowKernels, EmbedNormIsSumNormAndQuantize) {
    constexpr std::uint32_t kVocabulary = 50, kSegments = 2, kPositions = 40;
    for (const std::uint32_t width : kWidths) {
        for (const std::vector<std::uint32_t>& lengths : kBatches) {
            const Batch batch(lengths, kVocabulary, kSegments);
            Random random;
            const std::uint32_t entries[] = {kVocabulary, kSegments, kPositions};
            std::vector<std::vector<std::int8_t>> q;
            std::vector<std::vector<float>> scales;
            for (const std::uint32_t count : entries) {
                q.push_back(random.s8s(std::size_t{count} * width));
                scales.push_back(random.floats(count, 1e-3f, 2e-3f));
            }
            const NormOnDevice norm(width);
            std::vector<std::int32_t> ids;
            std::vector<std::uint8_t> segments;
            for (const cuda::RowInfo& token : batch.host_tokens) {
                ids.push_back(token.id);
                segments.push_back(static_cast<std::uint8_t>(token.segment));
            }
            std::vector<float> want(std::size_t{batch.rows} * width);
            const Texts texts = batch.host_texts();
            const EmbeddingTerm<S8Embedding> terms[] = {{{q[0].data(), scales[0].data()}, EmbeddedBy::id},
                                                        {{q[1].data(), scales[1].data()}, EmbeddedBy::segment},
                                                        {{q[2].data(), scales[2].data()}, EmbeddedBy::position}};
            const EmbeddingSum<S8Embedding> sum{terms, texts, ids.data(), segments.data(), {want.data(), width}};
            sum.run(OpContext{kernels(), nullptr}, 0, sum.units());
            apply(norm, want);

            const DeviceArray<std::int8_t> word(q[0]), segment(q[1]), position(q[2]);
            const DeviceArray<float> word_scales(scales[0]), segment_scales(scales[1]), position_scales(scales[2]);
            by_blocks_and_by_warps<cuda::EmbedNormExact, cuda::EmbedNormExactByWarps>([&](auto kernel) {
                const DeviceArray<float> hidden(std::size_t{batch.rows + kRowsBehind} * width);
                const S8Out out(batch.rows, width);
                run(decltype(kernel){batch.tokens.data(),
                                     {word.data(), word_scales.data()},
                                     {segment.data(), segment_scales.data()},
                                     {position.data(), position_scales.data()},
                                     norm.weights(),
                                     {hidden.data(), width},
                                     out.sink(),
                                     width,
                                     batch.row_count(),
                                     batch.rows + kRowsBehind});
                EXPECT_TRUE(same_bits(written(hidden, want.size()), want)) << "width " << width;
                out.expect(quantized(want, width));
            });
        }
    }
}

TEST_F(RowKernels, SumNormIsDequantizeAddNormAndQuantize) {
    for (const std::uint32_t width : kWidths) {
        for (const std::vector<std::uint32_t>& lengths : kBatches) {
            const Batch batch(lengths);
            for (const bool first_rows : {false, true}) {
                const std::uint32_t rows = first_rows ? batch.text_count : batch.rows;
                const Product product(rows, width, first_rows);
                const NormOnDevice norm(width);
                const std::vector<float> before = Random(31).floats(std::size_t{batch.rows} * width, 2.0f);
                std::vector<float> want;
                for (std::uint32_t row = 0; row < rows; ++row) {
                    const std::uint32_t from = first_rows ? batch.on_host[row].first : row;
                    for (std::uint32_t i = 0; i < width; ++i)
                        want.push_back(product.at(row, i) + before[std::size_t{from} * width + i]);
                }
                apply(norm, want);

                const DeviceArray<float> residual(before);
                by_blocks_and_by_warps<cuda::SumNormExact, cuda::SumNormExactByWarps>([&](auto kernel) {
                    const DeviceArray<float> hidden(std::size_t{rows + kRowsBehind} * width);
                    const S8Out out(rows, width);
                    run(decltype(kernel){product.source(),
                                         {residual.data(), width},
                                         first_rows ? batch.texts.data() : nullptr,
                                         norm.weights(),
                                         {hidden.data(), width},
                                         out.sink(),
                                         width,
                                         first_rows ? batch.texts_counted() : batch.row_count(),
                                         rows + kRowsBehind});
                    EXPECT_TRUE(same_bits(written(hidden, want.size()), want)) << "width " << width;
                    out.expect(quantized(want, width));
                });
            }
        }
    }
}

TEST_F(RowKernels, SumNormMayReplaceItsResidual) {
    const std::uint32_t width = 100;
    const Batch batch({9});
    const Product product(batch.rows, width, true);
    const NormOnDevice norm(width);
    std::vector<float> want = Random(31).floats(std::size_t{batch.rows} * width, 2.0f);
    const std::vector<float> before = want;
    for (std::uint32_t i = 0; i < want.size(); ++i)
        want[i] = product.at(i / width, i % width) + want[i];
    apply(norm, want);
    by_blocks_and_by_warps<cuda::SumNormExact, cuda::SumNormExactByWarps>([&](auto kernel) {
        const DeviceArray<float> hidden(before);
        const S8Out out(batch.rows, width);
        must_succeed(cuda::launch(decltype(kernel){product.source(),
                                                   {hidden.data(), width},
                                                   nullptr,
                                                   norm.weights(),
                                                   {hidden.data(), width},
                                                   out.sink(),
                                                   width,
                                                   batch.row_count(),
                                                   batch.rows},
                                  nullptr),
                     "launch");
        EXPECT_TRUE(same_bits(hidden.read(), want));
        out.expect(quantized(want, width));
    });
}

TEST_F(RowKernels, EveryActivationThenQuantize) {
    for (const Activation activation : kAllActivations) {
        for (const std::uint32_t width : {1u, 33u, 768u}) {
            const Batch batch({7});
            const Product product(batch.rows, width, true);
            std::vector<float> want;
            for (std::uint32_t i = 0; i < batch.rows * width; ++i)
                want.push_back(product.at(i / width, i % width));
            kernels().activate_row(activation, want.data(), static_cast<std::uint32_t>(want.size()));

            const S8Out out(batch.rows, width);
            run(cuda::ActivateExact{product.source(), activation, out.sink(), width, batch.row_count(),
                                    batch.rows + kRowsBehind});
            out.expect(quantized(want, width));

            const DeviceArray<float> floats(std::size_t{batch.rows + kRowsBehind} * width);
            run(cuda::ActivateExactToF32{product.source(),
                                         activation,
                                         {floats.data(), width},
                                         width,
                                         batch.row_count(),
                                         batch.rows + kRowsBehind});
            EXPECT_TRUE(same_bits(written(floats, want.size()), want)) << "activation " << static_cast<int>(activation);
        }
    }
}

TEST_F(RowKernels, QuantizeRowsOfAnyMagnitude) {
    const float magnitudes[] = {0.0f, 0x1p-41f, 0x1p-40f, 1e-6f, 1.0f, 1e6f, 0x1p50f};
    for (const std::uint32_t width : kWidths) {
        std::vector<float> x;
        Random random;
        for (const float magnitude : magnitudes) {
            for (const float value : random.floats(width, magnitude))
                x.push_back(value);
        }
        const Batch batch({static_cast<std::uint32_t>(std::size(magnitudes))});
        const DeviceArray<float> in(x);
        by_blocks_and_by_warps<cuda::QuantizeRows, cuda::QuantizeRowsByWarps>([&](auto kernel) {
            const S8Out out(batch.rows, width);
            run(decltype(kernel){
                {in.data(), width}, Activation::none, out.sink(), width, batch.row_count(), batch.rows + kRowsBehind});
            out.expect(quantized(x, width));
        });
    }
}

TEST_F(RowKernels, RowsAsWideAsSharedMemory) {
    by_blocks_and_by_warps<cuda::QuantizeRows, cuda::QuantizeRowsByWarps>([&](auto kernel) {
        constexpr bool kByWarps = std::is_same_v<decltype(kernel), cuda::QuantizeRowsByWarps>;
        const std::uint32_t width = cuda::kMostColumns * (kByWarps ? 1 : cuda::kRowsOfBlock);
        const std::vector<float> x = Random().floats(width);
        const Batch batch({1});
        const DeviceArray<float> in(x);
        const S8Out out(1, width);
        run(decltype(kernel){{in.data(), width}, Activation::none, out.sink(), width, batch.row_count(), 1});
        out.expect(quantized(x, width));
    });
}

}  // namespace
}  // namespace etch::testing
