// SPDX-License-Identifier: Apache-2.0
#include "stub_cuda.hpp"

#include <cstring>

#include "etch/cuda/device.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

void DeviceWeights::close() noexcept {}
void DeviceSession::close() noexcept {}

Status device_info(int index, DeviceInfo& info) noexcept {
    std::strcpy(info.name, "Stub GPU");
    return index > 1 ? Status::device_unknown : Status::ok;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE

namespace stub {
namespace cuda {

Status open(Weights& weights, int device, etch::cuda::Mode mode) noexcept {
    weights.device = device;
    weights.mode = mode;
    weights.bytes = 11;
    weights.context_bytes = 14;
    etch::cuda::DeviceInfo info;
    return etch::cuda::device_info(device, info);
}

Status open(Session& session, const Weights& weights, std::uint32_t rows) noexcept {
    session.figures = {12, 13, 16, 15, 2};
    session.rows = rows;
    session.offset = weights.mode == etch::cuda::Mode::fast ? 2 : 1;
    return weights.device == 1 ? Status::device_out_of_memory : Status::ok;
}

Status classify(Session& session, std::string_view text, Result& result) noexcept {
    const Status status = stub::classify(session.workspace, text, result);
    result.label = (result.label + session.offset) % kLabelCount;
    // Untrusted text is told from trusted by the second value; what a call takes, by the third.
    result.logits[1] = session.special_tokens == SpecialTokens::plain_text ? 1.0F : 0.0F;
    result.logits[2] = static_cast<float>(session.rows);
    return status;
}

Status classify_pair(Session& session, std::string_view first, std::string_view, Result& result) noexcept {
    return classify(session, first, result);
}

Status classify_batch(Session& session, const std::string_view* texts, std::size_t count, Result* results) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const Status status = classify(session, texts[i], results[i]);
        if (status != Status::ok) {
            return status;
        }
    }
    return Status::ok;
}

Status classify_tokens(Session& session, const std::int32_t*, const std::uint8_t*, std::uint32_t count,
                       Result& result) noexcept {
    const Status status = classify(session, "", result);
    result.tokens = count;
    return status;
}

}  // namespace cuda
}  // namespace stub
}  // namespace etch
