// SPDX-License-Identifier: Apache-2.0
// The model of this program on a GPU: compiled against the model's headers where the build has ETCH_CUDA.
#include "../machine/device.hpp"
#include "../task_face.hpp"

#if !defined(ETCH_MODEL) || !defined(ETCH_MODEL_CUDA_HEADER) || !defined(ETCH_TASK_HEADER)
#error "ETCH_MODEL, ETCH_MODEL_CUDA_HEADER and ETCH_TASK_HEADER must be defined"
#endif

#include ETCH_MODEL_CUDA_HEADER

#include "etch/cuda/device.hpp"

namespace etch::cli {
// The functions of both headers; what a task calls its workspace is the session.
namespace generated {
using namespace etch::ETCH_MODEL;
using namespace etch::ETCH_MODEL::cuda;
using Workspace = etch::ETCH_MODEL::cuda::Session;
}  // namespace generated
}  // namespace etch::cli

#include ETCH_TASK_HEADER

namespace etch::cli {
namespace on_gpu {
namespace {

// Never closed: CUDA cannot be used once main() has ended, and exit() ends the program in other places, too.
generated::Weights& weights = *new generated::Weights;
generated::Session& session = *new generated::Session;
generated::Result result;
std::vector<generated::Result> results;  // of a batch

Status open(std::uint32_t index, bool fast, std::uint32_t rows, SpecialTokens special_tokens) {
    const etch::cuda::Mode mode = fast ? etch::cuda::Mode::fast : etch::cuda::Mode::exact;
    Status status = generated::open(weights, static_cast<int>(index), mode);
    if (status == Status::ok) {
        status = generated::open(session, weights, rows);
    }
    session.special_tokens = special_tokens;
    return status;
}

Status answer_text(const Text& text, Answer& answer) {
    const Status status = task::answer(session, text, result);
    answer = task::view(result);
    return status;
}

Status answer_batch(const std::vector<std::string_view>& texts, std::vector<Answer>& answers) {
    results.resize(texts.size());
    const Status status = task::answer_batch(session, texts.data(), texts.size(), results.data());
    answers.clear();
    if (status == Status::ok) {
        for (const generated::Result& one : results) {
            answers.push_back(task::view(one));
        }
    }
    return status;
}

Status answer_tokens(const std::int32_t* ids, std::uint32_t count, Answer& answer) {
    const Status status = task::answer_tokens(session, ids, count, result);
    answer = task::view(result);
    return status;
}

std::string name() {
    etch::cuda::DeviceInfo info = {};
    const Status status = etch::cuda::device_info(weights.device, info);
    return status == Status::ok ? info.name : describe(status);
}

DeviceMemory memory() {
    const etch::cuda::SessionFigures& figures = session.figures;
    return {weights.bytes,       figures.device_bytes, figures.workspace_bytes, weights.context_bytes,
            figures.graph_bytes, figures.graphs,       figures.host_bytes};
}

}  // namespace
}  // namespace on_gpu

const Device kCudaDevice = {on_gpu::open,          on_gpu::answer_text, on_gpu::answer_batch,
                            on_gpu::answer_tokens, on_gpu::name,        on_gpu::memory};

}  // namespace etch::cli
