// SPDX-License-Identifier: Apache-2.0
// The stub model's face on a GPU: the labels are one higher than the CPU's, so that a test sees who answered, two
// higher in the mode fast. Device 0 exists, device 1 has no memory for a session, there is no other.
#pragma once

#include "etch/cuda/session.hpp"
#include "stub.hpp"

namespace etch {
namespace stub {
namespace cuda {

using Weights = etch::cuda::Weights<struct Model>;

struct Session : etch::cuda::Session<struct Model> {
    std::uint32_t rows = 0;
    std::uint32_t offset = 0;
    Workspace workspace;
};

Status open(Weights& weights, int device, etch::cuda::Mode mode) noexcept;
Status open(Session& session, const Weights& weights, std::uint32_t rows) noexcept;
Status classify(Session& session, std::string_view text, Result& result) noexcept;
Status classify_pair(Session& session, std::string_view first, std::string_view second, Result& result) noexcept;
Status classify_batch(Session& session, const std::string_view* texts, std::size_t count, Result* results) noexcept;
Status classify_tokens(Session& session, const std::int32_t* ids, const std::uint8_t* segments, std::uint32_t count,
                       Result& result) noexcept;

}  // namespace cuda
}  // namespace stub
}  // namespace etch
