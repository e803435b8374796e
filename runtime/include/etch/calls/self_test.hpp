// SPDX-License-Identifier: Apache-2.0
// What the generated self tests share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/calls/turn.hpp"
#include "etch/decode/sampling.hpp"
#include "etch/status.hpp"
#include "etch/tokenizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct TableCheck {
    const void* data;
    std::size_t bytes;
    std::uint32_t crc;  // CRC-32 of ISO 3309, as in zlib
};

// True where the CRC of every table is the recorded one.
bool tables_intact(const TableCheck* tables, std::size_t count) noexcept;

// True where n floats have exactly these bits.
bool same_bits(const float* values, const std::uint32_t* bits, std::uint32_t n) noexcept;

// True where the n floats have bits of this CRC.
bool same_crc(const float* values, std::uint32_t n, std::uint32_t crc) noexcept;

// A text, and what the generator's own emulation of the arithmetic made of it.
template <std::uint32_t Outputs>
struct Golden {
    std::string_view text;
    std::uint32_t count;
    const std::int32_t* ids;         // [count]
    std::uint32_t outputs[Outputs];  // bits
};

// The same where each token has a row of outputs.
template <std::uint32_t Outputs>
struct GoldenRows {
    std::string_view text;
    std::uint32_t count;
    const std::int32_t* ids;                  // [count]
    const std::uint32_t (*outputs)[Outputs];  // [count] bits
};

// The same where each mask has one.
template <std::uint32_t Outputs>
struct GoldenMasks {
    std::string_view text;
    std::uint32_t count;
    const std::int32_t* ids;                  // [count]
    std::uint32_t masks;                      // of them
    const std::uint32_t (*outputs)[Outputs];  // [masks] bits
};

// The same where there are many outputs, of which the CRC is known.
template <std::uint32_t Outputs>
struct GoldenSum {
    std::string_view text;
    std::uint32_t count;
    const std::int32_t* ids;  // [count]
    std::uint32_t crc;        // of all bits, lower bytes first
};

// A text, its tokens and the first ones that the model writes for it.
struct GoldenTarget {
    std::string_view text;
    std::uint32_t count;
    const std::int32_t* ids;  // [count]
    std::uint32_t written;
    const std::int32_t* target;  // [written], at most kGoldenTarget
    std::string_view spelled;    // the text of them, at most kGoldenBytes: of so many as fit
};
inline constexpr std::uint32_t kGoldenTarget = 16;
inline constexpr std::size_t kGoldenBytes = 64;

template <class Result, std::uint32_t Outputs>
bool is_golden(const Golden<Outputs>& golden, const Result& result, float (Result::*outputs)[Outputs]) noexcept {
    return result.tokens == golden.count && same_bits(result.*outputs, golden.outputs, Outputs);
}

template <class Result, std::uint32_t Outputs>
bool is_golden(const GoldenRows<Outputs>& golden, const Result& result, const float* Result::*outputs) noexcept {
    return result.tokens == golden.count && same_bits(result.*outputs, golden.outputs[0], golden.count * Outputs);
}

template <class Result, std::uint32_t Outputs>
bool is_golden(const GoldenMasks<Outputs>& golden, const Result& result, const float* Result::*outputs) noexcept {
    if (result.tokens != golden.count || result.count != golden.masks) return false;
    return golden.masks == 0 || same_bits(result.*outputs, golden.outputs[0], golden.masks * Outputs);
}

template <class Result, std::uint32_t Outputs>
bool is_golden(const GoldenSum<Outputs>& golden, const Result& result, const float* Result::*outputs) noexcept {
    return result.tokens == golden.count && same_crc(result.*outputs, Outputs, golden.crc);
}

// Checks the tables, then each golden text and its ids through the public functions of the model: `answer` takes texts,
// `answer_tokens` ids, `outputs` is the member of Result that is compared.
// It has its turn at the workspace for all of them, and lends it to each.
// Inlined, so that they are called directly: the stack check takes a function whose address is held for one that an
// executor may call, and sees a recursion.
template <class Workspace, std::size_t Tables, class Goldens, class Result, class Outputs>
[[gnu::always_inline]] inline Status self_test(
    Workspace& workspace, const TableCheck (&tables)[Tables], const Goldens& goldens,
    Status (&answer)(Workspace&, std::string_view, Result&) noexcept,
    Status (&answer_tokens)(Workspace&, const std::int32_t*, const std::uint8_t*, std::uint32_t, Result&) noexcept,
    Outputs Result::*outputs) noexcept {
    if (!tables_intact(tables, Tables)) return Status::table_mismatch;
    const calls::Turn turn{workspace};
    if (!turn) return turn.refusal();
    const SpecialTokens special_tokens = workspace.special_tokens;
    workspace.special_tokens = SpecialTokens::recognized;
    Status status = Status::ok;
    for (const auto& golden : goldens) {
        Result result{};
        turn.lend(&result);
        const auto matches = [&] { return is_golden(golden, result, outputs); };
        status = answer(workspace, golden.text, result);
        if (status == Status::ok && !matches()) status = Status::golden_mismatch;
        if (status == Status::ok) status = answer_tokens(workspace, golden.ids, nullptr, golden.count, result);
        if (status == Status::ok && !matches()) status = Status::golden_mismatch;
        if (status != Status::ok) break;
    }
    workspace.special_tokens = special_tokens;
    return status;
}

// Until the end of a scope a workspace of a generative model asks for what the golden texts were made with: greedily,
// as many tokens as there may be, special tokens as such.
template <class Workspace>
class AsGoldensAsk {
  public:
    explicit AsGoldensAsk(Workspace& workspace) noexcept
        : workspace_(workspace),
          special_tokens_(workspace.special_tokens),
          beams_(workspace.beams),
          max_target_(workspace.max_target),
          sampling_(workspace.sampling) {
        ask(SpecialTokens::recognized, 1, 0, &kGreedy);
    }
    ~AsGoldensAsk() { ask(special_tokens_, beams_, max_target_, sampling_); }
    AsGoldensAsk(const AsGoldensAsk&) = delete;
    AsGoldensAsk& operator=(const AsGoldensAsk&) = delete;

  private:
    void ask(SpecialTokens special_tokens, std::uint8_t beams, std::uint32_t max_target,
             const Sampling* sampling) noexcept {
        workspace_.special_tokens = special_tokens;
        workspace_.beams = beams;
        workspace_.max_target = max_target;
        workspace_.sampling = sampling;
    }

    Workspace& workspace_;
    SpecialTokens special_tokens_;
    std::uint8_t beams_;
    std::uint32_t max_target_;
    const Sampling* sampling_;
};

// The same of a generative model, greedily, with room for as many tokens as are known.
template <class Workspace, std::size_t Tables, std::size_t Goldens, class Result>
[[gnu::always_inline]] inline Status self_test(Workspace& workspace, const TableCheck (&tables)[Tables],
                                               const GoldenTarget (&goldens)[Goldens],
                                               Status (&write_tokens)(Workspace&, const std::int32_t*, std::uint32_t,
                                                                      std::int32_t*, std::uint32_t,
                                                                      Result&) noexcept) noexcept {
    if (!tables_intact(tables, Tables)) return Status::table_mismatch;
    const calls::Turn turn{workspace};
    if (!turn) return turn.refusal();
    const AsGoldensAsk asking{workspace};
    Status status = Status::ok;
    for (const GoldenTarget& golden : goldens) {
        std::int32_t target[kGoldenTarget];
        Result result{};
        turn.lend(&result);
        status = write_tokens(workspace, golden.ids, golden.count, target, golden.written, result);
        bool same = result.count == golden.written;
        for (std::uint32_t i = 0; same && i < golden.written; ++i)
            same = target[i] == golden.target[i];
        if (status == Status::ok && !same) status = Status::golden_mismatch;
        if (status != Status::ok) break;
    }
    return status;
}

// Behind that: each golden text through the tokenizer, to a text with room for what is known of it.
template <class Workspace, std::size_t Goldens, class Result>
[[gnu::always_inline]] inline Status self_test_of_texts(Workspace& workspace, const GoldenTarget (&goldens)[Goldens],
                                                        Status (&write)(Workspace&, std::string_view, char*,
                                                                        std::size_t, Result&) noexcept) noexcept {
    const calls::Turn turn{workspace};
    if (!turn) return turn.refusal();
    const AsGoldensAsk asking{workspace};
    Status status = Status::ok;
    for (const GoldenTarget& golden : goldens) {
        char text[kGoldenBytes];
        Result result{};
        turn.lend(&result);
        status = write(workspace, golden.text, text, golden.spelled.size(), result);
        const bool same = result.tokens == golden.count && std::string_view(text, result.bytes) == golden.spelled;
        if (status == Status::ok && !same) status = Status::golden_mismatch;
        if (status != Status::ok) break;
    }
    return status;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
