// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#include <atomic>
#include <memory>
#include <utility>

#include "etch/own_memory.hpp"
#include "machine/device.hpp"
#include "task_face.hpp"

#if !defined(ETCH_MODEL) || !defined(ETCH_MODEL_HEADER) || !defined(ETCH_TASK_HEADER) || !defined(ETCH_PROGRAM)
// The name in the namespace etch, the header's file name, tasks/classify.hpp or another of that folder, the program's
// name.
#error "ETCH_MODEL, ETCH_MODEL_HEADER, ETCH_TASK_HEADER and ETCH_PROGRAM must be defined"
#endif

#include ETCH_MODEL_HEADER

namespace etch::cli {
namespace generated = etch::ETCH_MODEL;
}

#include ETCH_TASK_HEADER

#include "generated_model.hpp"

namespace etch::cli {
namespace {

#ifdef ETCH_MODEL_CUDA_HEADER
constexpr const Device* kCuda = &kCudaDevice;
#else
constexpr const Device* kCuda = nullptr;
#endif

const Device* device = nullptr;  // that answers; null: the workspace does
using OwnWorkspace = WithOwnMemory<generated::Workspace>;
OwnWorkspace own_workspace;
generated::Workspace& workspace = own_workspace;
generated::Result result;
generated::Encoding encoding;
Wanted wanted;
const HeadOutputs* head_outputs = nullptr;  // of the chosen head, at this place
std::uint32_t head_place = 0;

// Of the model, or of its chosen head.
Answer view_of(const generated::Result& one) {
    const Answer answer = task::view(one);
    return head_outputs != nullptr ? answer.heads[head_place].answer : answer;
}

// For answer_batch(): of the workers but the first, which has `workspace`.
std::vector<std::unique_ptr<OwnWorkspace>> others;
std::vector<generated::Result> results;

struct Job {
    const std::vector<std::string_view>& texts;
    std::uint32_t workers;
    std::atomic<Status> status;

    // One worker's part.
    static void run(void* argument, std::uint32_t worker) {
        Job& job = *static_cast<Job*>(argument);
        const std::size_t first = job.texts.size() * worker / job.workers;
        const std::size_t end = job.texts.size() * (worker + 1) / job.workers;
        generated::Workspace& own = worker == 0 ? workspace : *others[worker - 1];
        const Status status = task::answer_batch(own, job.texts.data() + first, end - first, results.data() + first);
        if (status != Status::ok) {
            job.status = status;
        }
    }
};

void prepare_others(std::uint32_t count) {
    others.resize(count);
    for (std::unique_ptr<OwnWorkspace>& other : others) {
        if (other == nullptr) {
            other = std::make_unique<OwnWorkspace>();
        }
        other->kernels = workspace.kernels;
        other->special_tokens = workspace.special_tokens;
    }
}

}  // namespace

const Model kModel = generated_model(ETCH_PROGRAM, task::kFace, kCuda);

std::uint32_t output_width() {
    return head_outputs != nullptr ? head_outputs->width : kModel.width;
}

std::string_view label(std::uint32_t index) {
    return head_outputs != nullptr ? head_outputs->name(index) : task::name(index);
}

void choose_head(std::uint32_t place, const HeadOutputs& outputs) {
    head_place = place;
    head_outputs = &outputs;
}

Status answer_text(const Text& text, Answer& answer) {
    if (device != nullptr) {
        return device->answer_text(text, answer);
    }
    task::make_room(&result, 1, wanted);
    const Status status = task::answer(workspace, text, result);
    answer = view_of(result);
    return status;
}

Status answer_batch(const std::vector<std::string_view>& texts, std::vector<Answer>& answers) {
    if (device != nullptr) {
        return device->answer_batch(texts, answers);
    }
    results.resize(texts.size());
    task::make_room(results.data(), results.size(), wanted);
    Job job = {texts, 1, Status::ok};
    if (const Executor* executor = std::exchange(workspace.executor, nullptr); executor != nullptr) {
        job.workers = executor->workers;
        prepare_others(job.workers - 1);
        executor->run(executor->context, Job::run, &job);
        workspace.executor = executor;
    } else {
        Job::run(&job, 0);
    }
    answers.clear();
    if (job.status == Status::ok) {
        for (const generated::Result& one : results) {
            answers.push_back(view_of(one));
        }
    }
    return job.status;
}

Status answer_tokens(const std::int32_t* ids, std::uint32_t count, Answer& answer) {
    if (device != nullptr) {
        return device->answer_tokens(ids, count, answer);
    }
    task::make_room(&result, 1, wanted);
    const Status status = task::answer_tokens(workspace, ids, count, result);
    answer = view_of(result);
    return status;
}

Status encode(const Text& text, Tokens& tokens) {
    const Status status = text.pair ? generated::encode_pair(workspace, text.first, text.second, encoding)
                                    : generated::encode(workspace, text.first, encoding);
    tokens = {encoding.ids, encoding.offsets, encoding.count, encoding.truncated, encoding.cut_word};
    return status;
}

std::size_t copy_piece(std::int32_t id, char* text, std::size_t room) {
    return generated::piece(id, text, room);
}

void set_special_tokens(SpecialTokens reading) {
    workspace.special_tokens = reading;
}

void set_wanted(const Wanted& chosen) {
    wanted = chosen;
}

void set_executor(const Executor* executor) {
    workspace.executor = executor;
}

void set_device(const Device& opened) {
    device = &opened;
}

Status select_kernel(std::string_view name) {
    return generated::select_kernel(workspace, name);
}

std::string_view kernel() {
    return generated::kernel(workspace);
}

std::string_view usable_kernel(std::size_t index) {
    return generated::usable_kernel(index);
}

Status self_test() {
    return generated::self_test(workspace);
}

}  // namespace etch::cli
