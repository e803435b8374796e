// SPDX-License-Identifier: Apache-2.0
// What generated code hands to the back end (modes.hpp), and what its functions (calls.hpp) are made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/cuda/buckets.hpp"
#include "etch/cuda/runner.hpp"
#include "etch/cuda/session.hpp"
#include "etch/cuda/upload.hpp"
#include "etch/status.hpp"
#include "etch/token_limits.hpp"
#include "etch/tokenizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Device memory that cuBLASLt may use in a session: what it asks for on Hopper.
inline constexpr std::size_t kWorkspaceBytes = std::size_t{32} << 20;

// Where the input of a pass lies, copied in one piece: counts, tokens of every row of the bucket, texts.
constexpr std::size_t input_bytes(std::uint32_t rows, std::uint32_t texts) noexcept {
    return sizeof(Counts) + rows * sizeof(RowInfo) + texts * sizeof(TextInfo);
}

// Of the input that begins at `memory`; rows is a bucket.
inline Input input_of(const std::uint8_t* memory, std::uint32_t rows) noexcept {
    const std::uint8_t* const tokens = memory + sizeof(Counts);
    return {reinterpret_cast<const Counts*>(memory), reinterpret_cast<const RowInfo*>(tokens),
            reinterpret_cast<const TextInfo*>(tokens + rows * sizeof(RowInfo))};
}

inline RowCount all_rows(const Input& input, const Pass& pass) noexcept {
    return {&input.counts->rows, pass.rows, pass.rows, nullptr};
}
inline RowCount row_of_each_text(const Input& input, const Pass& pass) noexcept {
    return {&input.counts->texts, pass.texts, bucket(pass.texts), nullptr};
}
inline RowCount first_row_of_each_text(const Input& input, const Pass& pass) noexcept {
    return {&input.counts->texts, pass.texts, bucket(pass.texts), input.texts};
}

// Device memory of a session, as its walk over the buffers leaves it.
struct SessionMemory {
    std::uint8_t* input;
    const float* outputs;  // [texts][ModelPlan::outputs]
    std::size_t bytes;     // without the workspace
};

// One generated model.
struct ModelPlan {
    const BertTokenizer& tokenizer;
    TokenLimits limits;
    std::uint32_t outputs;   // floats of a text
    std::uint32_t products;  // of different shape in a pass, at most
    bool exact;              // the recipe has that mode

    std::size_t (*weights_bytes)(Mode) noexcept;
    std::size_t (*staging_bytes)(Mode) noexcept;
    void (*upload)(Upload&, Mode) noexcept;
    SessionMemory (*lay_out)(Mode, std::uint8_t* memory, const Capacity&) noexcept;  // memory may be null
    void (*forward)(Runner&, Mode, std::uint8_t* weights, std::uint8_t* memory, const Capacity&, const Pass&) noexcept;
};

Status open(DeviceWeights& weights, const ModelPlan& model, int device, Mode mode) noexcept;
Status open(DeviceSession& session, const DeviceWeights& weights, const ModelPlan& model, std::uint32_t rows) noexcept;

// Device memory of a session, the workspace included; 0 where open() would refuse so many rows, or so few.
std::size_t session_bytes(const ModelPlan& model, Mode mode, std::uint32_t rows) noexcept;

// Compute the outputs of a text, of a pair, of token ids, or of as many of `count` texts as fit one pass, at least one.
Status compute(DeviceSession& session, std::string_view text) noexcept;
Status compute_pair(DeviceSession& session, std::string_view first, std::string_view second) noexcept;
Status compute_tokens(DeviceSession& session, const std::int32_t* ids, const std::uint8_t* segments,
                      std::uint32_t count) noexcept;
Status compute_batch(DeviceSession& session, const std::string_view* texts, std::size_t count,
                     std::uint32_t& computed) noexcept;

// Of the last call of these.
struct TextOutput {
    F32Rows values;  // [1, ModelPlan::outputs], until the next call
    std::uint32_t tokens;
    bool truncated;
};
TextOutput output(const DeviceSession& session, std::uint32_t text) noexcept;

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
