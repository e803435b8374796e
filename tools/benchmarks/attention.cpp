// SPDX-License-Identifier: Apache-2.0
// Attention of one layer over a whole text: scores, softmax, values. Packing of keys and values is timed with it, as
// both happen once a layer.
#include "etch/ops/attention.hpp"

#include <string>

#include "benchmarks.hpp"
#include "kernels.hpp"
#include "limits.hpp"
#include "operands.hpp"

namespace etch::bench {
namespace {

constexpr std::uint32_t kTileRows = 24;

struct Heads {
    std::uint32_t heads;
    std::uint32_t width;
};

void measure(benchmark::State& state, const KernelSet& set, Heads heads, std::uint32_t tokens) {
    const HeadShape shape{set.packing, heads.heads, heads.width, tokens, kTileRows};
    const std::uint32_t width = heads.heads * heads.width;
    Aligned<float> input = random_floats(std::size_t{tokens} * width);
    Aligned<float> output(input.size());
    Aligned<std::uint8_t> keys(heads.heads * s8_key_bytes(shape));
    Aligned<std::uint8_t> values(heads.heads * s8_value_bytes(shape));
    std::vector<float> key_scales(std::size_t{heads.heads} * tokens);
    std::vector<float> value_scales(key_scales.size());
    Aligned<std::uint8_t> scratch(attention_s8_scratch_bytes(shape));
    const OpContext context{set, scratch.data()};
    const F32Rows rows{input.data(), width};
    const S8HeadCache key_cache{reinterpret_cast<std::int8_t*>(keys.data()), key_scales.data()};
    const S8HeadCache value_cache{reinterpret_cast<std::int8_t*>(values.data()), value_scales.data()};
    const RowBlock all{0, tokens};
    const TextRows text = whole_text(tokens);
    const Texts texts{&text, 1};
    const PackKeysS8 pack_keys{shape, all, texts, rows, key_cache};
    const PackValuesS8 pack_values{shape, all, texts, rows, value_cache};
    const AttentionS8 attention{shape, 0.1f, all, texts, rows, key_cache, value_cache, {output.data(), width}};

    const double limit = measured_limit(set.name, Operands::s8);
    for (auto _ : state) {
        pack_keys.run(context, 0, pack_keys.units());
        pack_values.run(context, 0, pack_values.units());
        attention.run(context, 0, attention.units());
        benchmark::ClobberMemory();
    }
    count_macs(state, 2.0 * tokens * tokens * width, set.name, Operands::s8, limit);
}

}  // namespace

void register_attention(const KernelSet& set, const Options& options) {
    for (const Heads heads : {Heads{12, 32}, Heads{12, 64}}) {  // MiniLM, BERT-base
        for (const std::uint32_t tokens : {44u, 128u, 221u}) {
            if (options.quick && tokens != 44) continue;
            const std::string name = "attention_s8/" + std::string(set.name) + "/" + std::to_string(heads.heads) + "x" +
                                     std::to_string(heads.width) + "/tokens=" + std::to_string(tokens);
            repeated(benchmark::RegisterBenchmark(
                         name.c_str(),
                         [&set, heads, tokens](benchmark::State& state) { measure(state, set, heads, tokens); }),
                     options)
                ->UseRealTime();
        }
    }
}

}  // namespace etch::bench
