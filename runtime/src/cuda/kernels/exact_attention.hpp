// SPDX-License-Identifier: Apache-2.0
// The exact mode's attention where a head has 32, 64 or 128 columns: keys and values stream through the registers of
// warps that have a tile of 16 query rows each. No score is ever in memory: they are computed for the largest one,
// again for the sum of e and the largest weight, and, where texts are too long for their e in shared memory, once more
// for the sums of values.
//
// A sum of integers may take them in any order, and columns of a product may stand in any: so what a lane holds are
// neighbours in memory. Of a query or a key, lane % 4 = t has the columns from t * kColumns / 4 on; of a value,
// lane / 4 = g those from g * kTiles on, the n-th of them as its column of the n-th product. The sum of e has the
// contract's order: of 16 neighbouring keys a lane has the 2t-th, the next, and those 8 behind.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention_heads.hpp"
#include "etch/cuda/input.hpp"
#include "fragments.hpp"
#include "grid.hpp"
#include "words.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// context = softmax(query keys^T * score_scale) values, with the CPU's bits.
template <std::uint32_t kColumns>
struct ExactAttention {
    static constexpr std::uint32_t kThreads = 128;
    static constexpr std::uint32_t kBlocksAtOnce = kColumns > 64 ? 2 : 4;

    ExactHeads heads;  // of kColumns columns; context and its stride are multiples of 4 floats
    const TextInfo* texts;
    bool first_rows_only;        // the first row of text t to row t of the context, and no others
    std::uint32_t longest;       // tokens of a text, at most
    const std::uint32_t* count;  // texts there are
    std::uint32_t rows;          // texts at most

    Grid grid() const noexcept {
        return {first_rows_only ? 1 : (longest + kRowsOfBlock - 1) / kRowsOfBlock, heads.shape.heads, rows};
    }
    std::size_t shared_bytes() const noexcept { return keeps_e() ? kThreads / 32 * warp_bytes() : 0; }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t text_index = block.z();
        if (text_index >= *count) return;
        const Head of{texts[text_index], block.y()};
        const std::uint32_t some = first_rows_only ? 1 : of.text.count;
        const std::uint32_t to = first_rows_only ? text_index : of.text.first;
        block.warps([&](auto& warp) {
            float* const kept = reinterpret_cast<float*>(block.shared() + warp.index() * warp_bytes());
            const std::uint32_t first = block.x() * kRowsOfBlock + warp.index() * kTile;
            if (first >= some) return;
            using Warp = typename Block::Warp;
            Queries<Warp> queries;
            load(warp, of, first, queries);
            find_largest(warp, of, queries);
            find_factors(warp, of, queries, kept);
            typename Warp::template PerLane<IntegerSums> sums[kTiles];
            sum_values(warp, of, queries, kept, sums);
            warp.own([&](std::uint32_t lane) {
                for (std::uint32_t half = 0; half < 2; ++half) {
                    const std::uint32_t row = first + lane / 4 + half * 8;
                    if (row >= some) continue;
                    float* const out = heads.context + std::size_t{to + row} * heads.context_stride +
                                       of.head * kColumns + lane % 4 * (kColumns / 4);
                    for (std::uint32_t i = 0; i < kColumns / 4; i += 4) {
                        Four values;
                        for (std::uint32_t n = 0; n < 4; ++n) {
                            const std::int32_t sum = sums[(i + n) % kTiles][lane].of[2 * half + i / kTiles];
                            values.of[n] = static_cast<float>(sum) * queries.factor[lane].of[half];
                        }
                        store_four(values, out + i);
                    }
                }
            });
        });
    }

  private:
    static constexpr std::uint32_t kRowsOfBlock = kThreads / 32 * kTile;
    static constexpr std::uint32_t kSteps = kColumns / 32;  // of a product over columns
    static constexpr std::uint32_t kTiles = kColumns / 8;   // of a product that has them
    static constexpr std::uint32_t kKeys = 32;              // of a turn
    static constexpr std::uint32_t kKeyTiles = kKeys / 8;   // of scores
    static constexpr std::uint32_t kWords = kColumns / 32;  // of a value in a lane
    static_assert(kColumns % 32 == 0);

    // Shared memory of a block up to which an H100's multiprocessor has it for four of them.
    static constexpr std::size_t kMostKeptBytes = 56 * 1024;

    struct Head {
        TextInfo text;
        std::uint32_t head;
    };

    // What a warp knows of its rows.
    template <class Warp>
    struct Queries {
        typename Warp::template PerLane<Left> words[kSteps];
        typename Warp::template PerLane<Pair> scale;
        typename Warp::template PerLane<Pair> largest;   // score
        typename Warp::template PerLane<Pair> quantize;  // factor that makes integers of weights
        typename Warp::template PerLane<Pair> factor;    // of the sums of values
    };

    // Of a turn in a lane: of[i] is of the key column_of_sum(lane, i) and of row g + i % 4 / 2 * 8.
    struct Scores {
        float of[4 * kKeyTiles];
    };

    // The e of a warp's rows: of each turn [4 * kKeyTiles / 4][32 lanes][4].
    constexpr ETCH_DEVICE std::size_t warp_bytes() const noexcept {
        return std::size_t{(longest + kKeys - 1) / kKeys} * sizeof(Scores) * 32;
    }
    constexpr ETCH_DEVICE bool keeps_e() const noexcept { return kThreads / 32 * warp_bytes() <= kMostKeptBytes; }
    static ETCH_DEVICE float* kept_of(float* kept, std::uint32_t key, std::uint32_t lane, std::uint32_t i) noexcept {
        return kept + (key * kTile + i * 32 + lane * 4);
    }

    // A row behind the text's last stands for it: what is computed of it is left out.
    static ETCH_DEVICE std::uint32_t row_of(const TextInfo& text, std::uint32_t row) noexcept {
        return row < text.count ? row : text.count - 1;
    }

    // exp2(score - largest), 0 for a key that there is not. Computed for each, for branches would keep a lane's keys
    // one behind the other.
    static ETCH_DEVICE Scores e_of_scores(const Head& of, const Pair& largest, std::uint32_t key, std::uint32_t lane,
                                          const Scores& t) noexcept {
        Scores to;
        for (std::uint32_t i = 0; i < 4 * kKeyTiles; ++i) {
            const float x = t.of[i] - largest.of[i % 4 / 2];
            const float e = scalar::exp2_of_normal(x);
            to.of[i] = key + column_of_sum(lane, i) < of.text.count && x >= polynomials::kExp2Least ? e : 0.0f;
        }
        return to;
    }

    // From a column of a text's first token on; tokens are kTile bytes apart.
    ETCH_DEVICE const std::int8_t* column_of(std::uint32_t part, const Head& of, std::uint32_t column) const noexcept {
        return heads.in.tile(part, of.head, of.text.place, column) + column % kTile;
    }

    // The columns of a query or a key that a lane has.
    ETCH_DEVICE Words<kColumns / 16> columns_of(std::uint32_t part, const Head& of, std::uint32_t row,
                                                std::uint32_t lane) const noexcept {
        const std::int8_t* const from = column_of(part, of, lane % 4 * (kColumns / 4)) + row_of(of.text, row) * kTile;
        if constexpr (kColumns <= 64) {
            return load_words<kColumns / 16>(from);
        } else {
            static_assert(kColumns == 128);
            const auto low = load_words<4>(from);
            const auto high = load_words<4>(from + heads.in.column_step());
            return {{low.words[0], low.words[1], low.words[2], low.words[3], high.words[0], high.words[1],
                     high.words[2], high.words[3]}};
        }
    }

    template <class Warp>
    ETCH_DEVICE void load(const Warp& warp, const Head& of, std::uint32_t first, Queries<Warp>& q) const noexcept {
        const float* const scales = heads.in.scales_of(QuantizedHeads::kQuery, of.head) + of.text.place;
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t half = 0; half < 2; ++half) {
                const std::uint32_t row = first + lane / 4 + half * 8;
                const auto words = columns_of(QuantizedHeads::kQuery, of, row, lane);
                for (std::uint32_t step = 0; step < kSteps; ++step) {
                    q.words[step][lane].words[half] = words.words[2 * step];
                    q.words[step][lane].words[half + 2] = words.words[2 * step + 1];
                }
                q.scale[lane].of[half] = scales[row_of(of.text, row)] * heads.shape.score_scale;
            }
        });
    }

    // f(lane, scores) of the keys from `key` on, of which the first exists.
    template <class Warp, class F>
    ETCH_DEVICE void scores(const Warp& warp, const Head& of, Queries<Warp>& q, std::uint32_t key, F f) const noexcept {
        typename Warp::template PerLane<Right> right[kKeyTiles][kSteps];
        typename Warp::template PerLane<IntegerSums> sums[kKeyTiles];
        typename Warp::template PerLane<Scores> scales;
        const float* const key_scales = heads.in.scales_of(QuantizedHeads::kKey, of.head) + of.text.place;
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t tile = 0; tile < kKeyTiles; ++tile) {
                const auto words = columns_of(QuantizedHeads::kKey, of, key + tile * 8 + lane / 4, lane);
                for (std::uint32_t step = 0; step < kSteps; ++step)
                    right[tile][step][lane] = {{words.words[2 * step], words.words[2 * step + 1]}};
                sums[tile][lane] = IntegerSums{};
            }
            scales[lane] = scales_of_keys(key_scales, of.text.count, key, lane);
        });
        for (std::uint32_t tile = 0; tile < kKeyTiles; ++tile) {
            for (std::uint32_t step = 0; step < kSteps; ++step)
                warp.multiply(sums[tile], q.words[step], right[tile][step]);
        }
        warp.own([&](std::uint32_t lane) {
            Scores t;
            for (std::uint32_t i = 0; i < 4 * kKeyTiles; ++i) {
                const auto sum = static_cast<float>(sums[i / 4][lane].of[i % 4]);
                t.of[i] = (sum * q.scale[lane].of[i % 4 / 2]) * scales[lane].of[i];
            }
            f(lane, t);
        });
    }

    // Of the keys of a lane's scores, 0 behind the last one.
    static ETCH_DEVICE Scores scales_of_keys(const float* scales, std::uint32_t tokens, std::uint32_t key,
                                             std::uint32_t lane) noexcept {
        Scores of;
        for (std::uint32_t tile = 0; tile < kKeyTiles; ++tile) {
            const std::uint32_t first = key + column_of_sum(lane, 4 * tile);
            Words<2> two{};
            if (first < tokens) two = load_words<2>(scales + first);
            if (first + 1 >= tokens) two.words[1] = 0;
            for (std::uint32_t i = 0; i < 4; ++i)
                of.of[4 * tile + i] = scalar::from_bits(two.words[i % 2]);
        }
        return of;
    }

    template <class Warp>
    ETCH_DEVICE void find_largest(const Warp& warp, const Head& of, Queries<Warp>& q) const noexcept {
        warp.own([&](std::uint32_t lane) { q.largest[lane] = {{-0x1p127f, -0x1p127f}}; });
        for (std::uint32_t key = 0; key < of.text.count; key += kKeys) {
            scores(warp, of, q, key, [&](std::uint32_t lane, const Scores& t) {
                for (std::uint32_t i = 0; i < 4 * kKeyTiles; ++i) {
                    float& most = q.largest[lane].of[i % 4 / 2];
                    const float mine = key + column_of_sum(lane, i) < of.text.count ? t.of[i] : most;
                    most = larger(mine, most);
                }
            });
        }
        warp.max_of_4(q.largest);
    }

    // The contract's e = exp2(score - largest) and weights e * scale of the value.
    template <class Warp>
    ETCH_DEVICE void find_factors(const Warp& warp, const Head& of, Queries<Warp>& q, float* kept) const noexcept {
        const float* const value_scales = heads.in.scales_of(QuantizedHeads::kValue, of.head) + of.text.place;
        // Of each row those of keys 2t, 2t + 1, 2t + 8 and 2t + 9 of every 16.
        struct Partial {
            float of[2][4];
        };
        typename Warp::template PerLane<Partial> partial;
        typename Warp::template PerLane<Pair> largest;
        warp.own([&](std::uint32_t lane) {
            partial[lane] = Partial{};
            largest[lane] = Pair{};
        });
        for (std::uint32_t key = 0; key < of.text.count; key += kKeys) {
            scores(warp, of, q, key, [&](std::uint32_t lane, const Scores& t) {
                const Scores scales = scales_of_keys(value_scales, of.text.count, key, lane);
                const Scores e = e_of_scores(of, q.largest[lane], key, lane, t);
                for (std::uint32_t i = 0; i < 4 * kKeyTiles; ++i) {
                    const std::uint32_t half = i % 4 / 2;
                    partial[lane].of[half][i / 4 % 2 * 2 + i % 2] += e.of[i];
                    float& most = largest[lane].of[half];
                    most = larger(e.of[i] * scales.of[i], most);
                }
                if (!keeps_e()) return;
                for (std::uint32_t i = 0; i < 4 * kKeyTiles; i += 4)
                    store_four({{e.of[i], e.of[i + 1], e.of[i + 2], e.of[i + 3]}}, kept_of(kept, key, lane, i));
            });
        }
        warp.max_of_4(largest);
        // The contract's tree: 8 apart, then 4, 2 and 1.
        typename Warp::template PerLane<Four> sums;
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t i = 0; i < 4; ++i)
                sums[lane].of[i] = partial[lane].of[i / 2][i % 2] + partial[lane].of[i / 2][i % 2 + 2];
        });
        warp.sum_of_4(sums);
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t half = 0; half < 2; ++half) {
                const float of_row = sums[lane].of[2 * half] + sums[lane].of[2 * half + 1];
                q.quantize[lane].of[half] = scalar::quantization_of(largest[lane].of[half]).factor;
                q.factor[lane].of[half] = (largest[lane].of[half] * polynomials::kInverse127) / of_row;
            }
        });
    }

    template <class Warp>
    ETCH_DEVICE void sum_values(const Warp& warp, const Head& of, Queries<Warp>& q, float* kept,
                                typename Warp::template PerLane<IntegerSums> (&sums)[kTiles]) const noexcept {
        const float* const value_scales = heads.in.scales_of(QuantizedHeads::kValue, of.head) + of.text.place;
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t tile = 0; tile < kTiles; ++tile)
                sums[tile][lane] = IntegerSums{};
        });
        for (std::uint32_t key = 0; key < of.text.count; key += kKeys) {
            typename Warp::template PerLane<Left> left;
            typename Warp::template PerLane<Right> right[kTiles];
            warp.own([&](std::uint32_t lane) { load_values(of, key, lane, right); });
            const auto quantize = [&](std::uint32_t lane, const Scores& e) {
                const Scores scales = scales_of_keys(value_scales, of.text.count, key, lane);
                Words<4 * kKeyTiles> rounded;
                for (std::uint32_t i = 0; i < 4 * kKeyTiles; ++i) {
                    const float w = e.of[i] * scales.of[i];
                    rounded.words[i] =
                        static_cast<std::uint32_t>(scalar::round_to_int(w * q.quantize[lane].of[i % 4 / 2]));
                }
                // Keys 2t, 2t + 1, 2t + 8 and 2t + 9 of every 16, as the values' tokens.
                for (std::uint32_t word = 0; word < 4; ++word) {
                    const std::uint32_t* const some = rounded.words + word / 2 * 8 + word % 2 * 2;
                    left[lane].words[word] = low_bytes(some[0], some[1], some[4], some[5]);
                }
            };
            if (keeps_e()) {
                warp.own([&](std::uint32_t lane) {
                    Scores e;
                    for (std::uint32_t i = 0; i < 4 * kKeyTiles; ++i)
                        e.of[i] = kept_of(kept, key, lane, i / 4 * 4)[i % 4];
                    quantize(lane, e);
                });
            } else {
                scores(warp, of, q, key, [&](std::uint32_t lane, const Scores& t) {
                    quantize(lane, e_of_scores(of, q.largest[lane], key, lane, t));
                });
            }
            for (std::uint32_t tile = 0; tile < kTiles; ++tile)
                warp.multiply(sums[tile], left, right[tile]);
        }
    }

    // Columns g * kTiles and on of the values of a turn's tokens, each as the operand of its own product.
    template <class Rights>
    ETCH_DEVICE void load_values(const Head& of, std::uint32_t key, std::uint32_t lane, Rights& right) const noexcept {
        const std::int8_t* const from = column_of(QuantizedHeads::kValue, of, lane / 4 * kTiles);
        for (std::uint32_t group = 0; group < 2; ++group) {
            Words<kWords> token[4];
            for (std::uint32_t i = 0; i < 4; ++i) {
                const std::uint32_t of_group = lane % 4 * 2 + i % 2 + i / 2 * 8;
                token[i] = load_words<kWords>(from + row_of(of.text, key + group * kTile + of_group) * kTile);
            }
            for (std::uint32_t i = 0; i < kWords; ++i) {
                const Words<4> columns =
                    transposed({{token[0].words[i], token[1].words[i], token[2].words[i], token[3].words[i]}});
                for (std::uint32_t n = 0; n < 4; ++n)
                    right[4 * i + n][lane].words[group] = columns.words[n];
            }
        }
    }
};

// Whether there are so many tiles that a warp need not be done with its own soon.
constexpr bool exact_attention_streams(std::uint32_t longest, std::uint32_t heads, std::uint32_t texts) noexcept {
    constexpr std::uint32_t kEnoughTiles = 512;
    return (longest + kTile - 1) / kTile * heads * texts >= kEnoughTiles;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
