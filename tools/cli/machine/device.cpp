// SPDX-License-Identifier: Apache-2.0
#include "device.hpp"

#include <algorithm>

#include "../arguments.hpp"
#include "../failure.hpp"

namespace etch::cli {
namespace {

constexpr std::uint32_t kRowsOfBatches = 8192;  // enough to keep a GPU busy; a quarter of a GB for BERT-base

std::string in_use;

// Whether texts come in numbers: one at a time needs less memory.
bool in_batches(const Options& options) {
    return options.mode == Mode::evaluate ||
           (options.mode == Mode::texts && options.texts.empty() && options.pairs.empty());
}

}  // namespace

void use_device(const Options& options) {
    const std::string asked = "--device cuda:" + std::to_string(*options.gpu);
    const Device* cuda = kModel.cuda;
    if (cuda == nullptr) {
        fail(kWrongUse,
             "%s: this program was built without CUDA (etch generate --gpu and cmake --preset cuda make one with it)",
             asked.c_str());
    }
    const std::string_view mode = options.device_mode.value_or("exact");
    const std::uint32_t rows = in_batches(options) ? std::max(kRowsOfBatches, kModel.max_tokens) : kModel.max_tokens;
    const Status status = cuda->open(*options.gpu, mode == "fast", rows,
                                     options.plain_text ? SpecialTokens::plain_text : SpecialTokens::recognized);
    if (status != Status::ok) {
        fail(kRunFailure, "%s: %s", asked.c_str(), describe(status));
    }
    set_device(*cuda);
    in_use = cuda->name() + ", mode: " + std::string(mode);
}

std::string device_in_use() {
    return in_use;
}

std::optional<DeviceMemory> device_memory() {
    return in_use.empty() ? std::nullopt : std::optional(kModel.cuda->memory());
}

}  // namespace etch::cli
