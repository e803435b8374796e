// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

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

namespace etch::cli {
namespace {

generated::Workspace workspace;
generated::Result result;
generated::Encoding encoding;

}  // namespace

const Model kModel = {ETCH_PROGRAM,
                      generated::kModelName,
                      generated::kRecipe,
                      generated::kTarget,
                      generated::kCheckpoint,
                      generated::kTask,
                      generated::kMaxTokens,
                      task::kWidth,
                      generated::kPairs,
                      generated::kTableBytes,
                      generated::kArenaBytes,
                      generated::kStackBudget,
                      generated::kScratchBytes};

std::string_view label(std::uint32_t index) {
    return task::name(index);
}

Status answer_text(const Text& text, Answer& answer) {
    const Status status = task::answer(workspace, text, result);
    answer = task::view(result);
    return status;
}

Status answer_tokens(const std::int32_t* ids, std::uint32_t count, Answer& answer) {
    const Status status = task::answer_tokens(workspace, ids, count, result);
    answer = task::view(result);
    return status;
}

Status encode(const Text& text, Tokens& tokens) {
    const Status status = text.pair ? generated::encode_pair(workspace, text.first, text.second, encoding)
                                    : generated::encode(workspace, text.first, encoding);
    tokens = {encoding.ids, encoding.offsets, encoding.count, encoding.truncated};
    return status;
}

std::string_view piece(std::int32_t id) {
    return generated::piece(id);
}

void set_special_tokens(SpecialTokens reading) {
    workspace.special_tokens = reading;
}

void set_executor(const Executor& executor) {
    workspace.executor = &executor;
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
