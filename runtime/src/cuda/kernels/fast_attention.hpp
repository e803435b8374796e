// SPDX-License-Identifier: Apache-2.0
// The fast mode's attention where a head has 32, 64 or 128 columns: keys and values stream through the registers of
// warps that have a tile of 16 query rows each, with a running maximum; no score is ever in memory.
//
// A sum over columns may take them in any order, and columns of a product may stand in any: so the columns that a lane
// holds are neighbours in memory. Of a query or a key, lane % 4 = t has those from t * kColumns / 4 on; of a value,
// lane / 4 = g those from g * kTiles on, the n-th of them as its column of the n-th product.
#pragma once

#include <cmath>
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

// 2^x, x <= 0, to about 22 bits.
ETCH_DEVICE inline float fast_exp2(float x) noexcept {
#ifdef __CUDA_ARCH__
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#else
    return std::exp2(x);
#endif
}

template <std::uint32_t kColumns>
struct FastAttention {
    static constexpr std::uint32_t kThreads = 128;
    static constexpr std::uint32_t kTilesOfBlock = kThreads / 32;

    FastHeads heads;  // of stride kColumns
    const TextInfo* texts;
    bool first_rows_only;        // the first row of text t to row t of the context, and no others
    std::uint32_t splits;        // warps that share a tile of query rows, and its keys: 1, 2 or 4
    std::uint32_t longest;       // tokens of a text, at most
    const std::uint32_t* count;  // texts there are
    std::uint32_t rows;          // texts at most

    Grid grid() const noexcept {
        return {first_rows_only ? 1 : (longest + block_rows() - 1) / block_rows(), heads.shape.heads, rows};
    }
    std::size_t shared_bytes() const noexcept { return splits > 1 ? kTilesOfBlock * sizeof(Part) : 0; }

    template <class Block>
    ETCH_DEVICE void operator()(Block& block) const noexcept {
        const std::uint32_t text_index = block.z();
        if (text_index >= *count) return;
        const TextInfo text = texts[text_index];
        const std::uint32_t first = block.x() * block_rows();
        if (first >= text.count) return;
        Part* const parts = reinterpret_cast<Part*>(block.shared());
        const std::uint32_t left = first_rows_only ? 1 : text.count - first;
        const std::uint32_t some = left < block_rows() ? left : block_rows();
        const std::uint32_t to = first_rows_only ? text_index : text.first + first;
        block.warps([&](auto& warp) {
            const std::uint32_t row = warp.index() / splits * kTile;
            if (row >= some) return;
            Streams<typename Block::Warp> streams;
            attend(warp, streams, text, block.y(), first + row, warp.index() % splits);
            if (splits > 1) return leave(warp, streams, parts[warp.index()]);
            store(warp, streams, to + row, some - row, block.y());
        });
        if (splits == 1) return;
        block.threads([&](std::uint32_t thread) {
            if (thread < some) weigh(parts + thread / kTile * splits, thread % kTile);
        });
        block.threads([&](std::uint32_t thread) {
            for (std::uint32_t i = thread; i < some * kColumns; i += kThreads) {
                const std::uint32_t row = i / kColumns;
                const std::uint32_t column = i % kColumns;
                const Part* const of_tile = parts + row / kTile * splits;
                float value = 0.0f;
                for (std::uint32_t split = 0; split < splits; ++split)
                    value += of_tile[split].out[row % kTile][column] * of_tile[split].weight[row % kTile];
                heads.store(to + row, block.y(), column, value);
            }
        });
    }

  private:
    static constexpr std::uint32_t kSteps = kColumns / kTile;        // of a product over columns
    static constexpr std::uint32_t kTiles = kColumns / 8;            // of a product that has them
    static constexpr std::uint32_t kGroups = kColumns > 64 ? 1 : 2;  // of 16 keys in a turn: what registers hold
    static constexpr std::uint32_t kKeys = kGroups * kTile;
    static constexpr float kMasked = -0x1p127f;
    static_assert(kColumns % 32 == 0);

    // What a warp knows of its rows.
    template <class Warp>
    struct Streams {
        typename Warp::template PerLane<Left> query[kSteps];
        typename Warp::template PerLane<Sums> out[kTiles];
        typename Warp::template PerLane<Pair> largest;
        typename Warp::template PerLane<Pair> sum;
    };

    // The same in shared memory, in the end with the weight of each row among the warps that share a tile.
    struct Part {
        float out[kTile][kColumns + 1];  // one more: or all rows would share a bank
        float largest[kTile];
        float sum[kTile];
        float weight[kTile];
    };
    static_assert(kTile * kTilesOfBlock <= kThreads);

    // constexpr: for the host's grid(), too. Of a call that only the GPU may make there, nvcc makes an exit(1), unsaid.
    constexpr ETCH_DEVICE std::uint32_t block_rows() const noexcept { return kTile * kTilesOfBlock / splits; }

    static ETCH_DEVICE std::uint32_t at_most(std::uint32_t a, std::uint32_t b) noexcept { return a < b ? a : b; }

    // A row behind the text's last stands for it: what is computed of it is left out.
    ETCH_DEVICE const Bf16* row_of(const Tiles<Bf16>& tiles, const TextInfo& text, std::uint32_t row) const noexcept {
        return tiles.values + std::size_t{at_most(row, text.count - 1)} * tiles.stride;
    }

    template <class Warp>
    ETCH_DEVICE void attend(const Warp& warp, Streams<Warp>& s, const TextInfo& text, std::uint32_t head,
                            std::uint32_t first, std::uint32_t split) const noexcept {
        const Tiles<Bf16> queries = heads.queries(text, head, 0);
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t half = 0; half < 2; ++half) {
                const Bf16* const row = row_of(queries, text, first + lane / 4 + half * 8);
                const auto words = load_words<kColumns / 8>(row + lane % 4 * (kColumns / 4));
                for (std::uint32_t step = 0; step < kSteps; ++step) {
                    s.query[step][lane].words[half] = words.words[2 * step];
                    s.query[step][lane].words[half + 2] = words.words[2 * step + 1];
                }
            }
            for (std::uint32_t tile = 0; tile < kTiles; ++tile)
                s.out[tile][lane] = Sums{};
            s.largest[lane] = {{kMasked, kMasked}};
            s.sum[lane] = Pair{};
        });
        const std::uint32_t turns = (text.count + kKeys - 1) / kKeys;
        const std::uint32_t end = at_most(turns * (split + 1) / splits * kKeys, text.count);
        for (std::uint32_t key = turns * split / splits * kKeys; key < end; key += kKeys)
            turn(warp, s, text, head, key);
    }

    // kKeys keys from `key` on, of which the first exists.
    template <class Warp>
    ETCH_DEVICE void turn(const Warp& warp, Streams<Warp>& s, const TextInfo& text, std::uint32_t head,
                          std::uint32_t key) const noexcept {
        const Tiles<Bf16> keys = heads.keys(text, head, 0);
        const Tiles<Bf16> values = heads.values(text, head, 0, 0);
        typename Warp::template PerLane<Right> right[2 * kGroups][kSteps];
        typename Warp::template PerLane<Words<kTiles / 2>> value[kGroups][4];
        typename Warp::template PerLane<Sums> score[2 * kGroups];
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t tile = 0; tile < 2 * kGroups; ++tile) {
                const Bf16* const row = row_of(keys, text, key + tile * 8 + lane / 4);
                const auto words = load_words<kColumns / 8>(row + lane % 4 * (kColumns / 4));
                for (std::uint32_t step = 0; step < kSteps; ++step)
                    right[tile][step][lane] = {{words.words[2 * step], words.words[2 * step + 1]}};
                score[tile][lane] = Sums{};
            }
            for (std::uint32_t group = 0; group < kGroups; ++group) {
                for (std::uint32_t i = 0; i < 4; ++i) {
                    const std::uint32_t of_group = lane % 4 * 2 + i % 2 + i / 2 * 8;
                    const Bf16* const row = row_of(values, text, key + group * kTile + of_group);
                    value[group][i][lane] = load_words<kTiles / 2>(row + lane / 4 * kTiles);
                }
            }
        });
        for (std::uint32_t tile = 0; tile < 2 * kGroups; ++tile) {
            for (std::uint32_t step = 0; step < kSteps; ++step)
                warp.multiply(score[tile], s.query[step], right[tile][step]);
        }

        typename Warp::template PerLane<Pair> largest;
        warp.own([&](std::uint32_t lane) {
            largest[lane] = s.largest[lane];
            for (std::uint32_t i = 0; i < 8 * kGroups; ++i) {
                float& t = score[i / 4][lane].of[i % 4];
                const std::uint32_t of = key + column_of_sum(lane, i);
                t = of < text.count ? t * heads.shape.score_scale : kMasked;
                float& most = largest[lane].of[i % 4 / 2];
                most = larger(t, most);
            }
        });
        warp.max_of_4(largest);

        typename Warp::template PerLane<Left> left[kGroups];
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t half = 0; half < 2; ++half) {
                const float most = largest[lane].of[half];
                const float factor = fast_exp2(s.largest[lane].of[half] - most);
                s.largest[lane].of[half] = most;
                float sum = s.sum[lane].of[half] * factor;
                for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
                    s.out[tile][lane].of[2 * half] *= factor;
                    s.out[tile][lane].of[2 * half + 1] *= factor;
                }
                for (std::uint32_t tile = 0; tile < 2 * kGroups; ++tile) {
                    const float e = fast_exp2(score[tile][lane].of[2 * half] - most);
                    const float next = fast_exp2(score[tile][lane].of[2 * half + 1] - most);
                    sum += e + next;
                    left[tile / 2][lane].words[tile % 2 * 2 + half] = pack_bf16(e, next);
                }
                s.sum[lane].of[half] = sum;
            }
        });
        for (std::uint32_t group = 0; group < kGroups; ++group) {
            typename Warp::template PerLane<Right> column[kTiles];
            warp.own([&](std::uint32_t lane) {
                for (std::uint32_t i = 0; i < kTiles / 2; ++i) {
                    const std::uint32_t a = value[group][0][lane].words[i], b = value[group][1][lane].words[i];
                    const std::uint32_t c = value[group][2][lane].words[i], d = value[group][3][lane].words[i];
                    column[2 * i][lane] = {{lower_halves(a, b), lower_halves(c, d)}};
                    column[2 * i + 1][lane] = {{upper_halves(a, b), upper_halves(c, d)}};
                }
            });
            for (std::uint32_t tile = 0; tile < kTiles; ++tile)
                warp.multiply(s.out[tile], left[group], column[tile]);
        }
    }

    // Of a tile that no other warp has a part of: rows from `to` on, the first `some` of them.
    template <class Warp>
    ETCH_DEVICE void store(const Warp& warp, Streams<Warp>& s, std::uint32_t to, std::uint32_t some,
                           std::uint32_t head) const noexcept {
        warp.sum_of_4(s.sum);
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t half = 0; half < 2; ++half) {
                const std::uint32_t row = lane / 4 + half * 8;
                if (row >= some) continue;
                const float weight = 1.0f / s.sum[lane].of[half];
                Bf16* const out = heads.context + std::size_t{to + row} * heads.context_stride + head * kColumns +
                                  lane % 4 * (kColumns / 4);
                for (std::uint32_t first = 0; first < kColumns / 4; first += 8) {
                    Words<4> words;
                    for (std::uint32_t i = 0; i < 4; ++i) {
                        const std::uint32_t column = first + 2 * i;
                        const auto value = [&](std::uint32_t at) {
                            return s.out[at % kTiles][lane].of[2 * half + at / kTiles] * weight;
                        };
                        words.words[i] = pack_bf16(value(column), value(column + 1));
                    }
                    store_words(words, out + first);
                }
            }
        });
    }

    template <class Warp>
    ETCH_DEVICE void leave(const Warp& warp, Streams<Warp>& s, Part& part) const noexcept {
        warp.sum_of_4(s.sum);
        warp.own([&](std::uint32_t lane) {
            for (std::uint32_t half = 0; half < 2; ++half) {
                const std::uint32_t row = lane / 4 + half * 8;
                for (std::uint32_t tile = 0; tile < kTiles; ++tile) {
                    for (std::uint32_t i = 0; i < 2; ++i)
                        part.out[row][(lane % 4 * 2 + i) * kTiles + tile] = s.out[tile][lane].of[2 * half + i];
                }
                part.largest[row] = s.largest[lane].of[half];
                part.sum[row] = s.sum[lane].of[half];
            }
        });
    }

    ETCH_DEVICE void weigh(Part* parts, std::uint32_t row) const noexcept {
        float largest = kMasked;
        for (std::uint32_t split = 0; split < splits; ++split) {
            const float of = parts[split].largest[row];
            largest = of > largest ? of : largest;
        }
        float sum = 0.0f;
        for (std::uint32_t split = 0; split < splits; ++split)
            sum += parts[split].sum[row] * fast_exp2(parts[split].largest[row] - largest);
        for (std::uint32_t split = 0; split < splits; ++split)
            parts[split].weight[row] = fast_exp2(parts[split].largest[row] - largest) / sum;
    }
};

// Warps that share a tile: all of a block while there are too few tiles for every multiprocessor.
constexpr std::uint32_t fast_attention_splits(std::uint32_t longest, std::uint32_t heads,
                                              std::uint32_t texts) noexcept {
    constexpr std::uint32_t kEnoughTiles = 4096;
    const std::uint32_t tiles = (longest + kTile - 1) / kTile * heads * texts;
    return tiles >= kEnoughTiles ? 1 : tiles >= kEnoughTiles / 4 ? 2 : 4;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
