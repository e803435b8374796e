// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

#if !defined(ETCH_MODEL) || !defined(ETCH_MODEL_HEADER)
#error "compile with -DETCH_MODEL=<name> -DETCH_MODEL_HEADER='\"<name>.hpp\"'"
#endif

#include ETCH_MODEL_HEADER

namespace etch::cli {

namespace generated = etch::ETCH_MODEL;

namespace {

generated::Workspace workspace;
generated::Result result;
generated::Encoding encoding;

void view_result(Answer& answer) {
    answer = {result.label, result.probability, result.logits, result.tokens, result.truncated};
}

}  // namespace

const Model kModel = {generated::kModelName,  generated::kRecipe,     generated::kTarget, generated::kCheckpoint,
                      generated::kMaxTokens,  generated::kLabelCount, generated::kPairs,  generated::kTableBytes,
                      generated::kArenaBytes, generated::kStackBudget};

std::string_view label(std::uint32_t index) {
    return generated::kLabels[index];
}

Status classify(const Text& text, Answer& answer) {
    const Status status = text.pair ? generated::classify_pair(workspace, text.first, text.second, result)
                                    : generated::classify(workspace, text.first, result);
    view_result(answer);
    return status;
}

Status classify_tokens(const std::int32_t* ids, std::uint32_t count, Answer& answer) {
    const Status status = generated::classify_tokens(workspace, ids, nullptr, count, result);
    view_result(answer);
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
