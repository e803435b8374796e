// SPDX-License-Identifier: Apache-2.0
// Prints a model's outputs for token ids, which it has to give again in steps of little and of all: each line of
// standard input is a number of tokens, their ids and their segments. The argument names the kernels; with `list` those
// of this machine are printed instead. The model is the one that the macros name; ETCH_OUTPUT is the member of its
// Result. Exit code 1: a text is refused, 2: these kernels are, 3: no such line, 4: steps give other outputs, 5: a step
// takes a workspace that is in use.
#include ETCH_MODEL_HEADER

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "kernel_list.hpp"

namespace model = etch::ETCH_MODEL;

static model::Workspace workspace;

static bool steps_agree(const std::int32_t* ids, const std::uint8_t* segments, std::uint32_t count,
                        const model::Result& meant) {
    for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{3000}, ~std::uint64_t{0}}) {
        model::Result result{};
        etch::Status status = model::begin_tokens(workspace, ids, segments, count);
        if (status == etch::Status::ok) status = etch::Status::in_progress;
        while (status == etch::Status::in_progress)
            status = model::step(workspace, budget, result);
        if (status != etch::Status::ok) return false;
        if (std::memcmp(result.ETCH_OUTPUT, meant.ETCH_OUTPUT, sizeof meant.ETCH_OUTPUT) != 0) return false;
    }
    return true;
}

int main(int, char** argv) {
    list_kernels_if_asked(argv[1]);
    if (model::select_kernel(workspace, argv[1]) != etch::Status::ok) return 2;
    std::uint32_t count;
    while (std::scanf("%u", &count) == 1) {
        static std::int32_t ids[model::kMaxTokens];
        static std::uint8_t segments[model::kMaxTokens];
        if (count > model::kMaxTokens) return 3;
        for (std::uint32_t i = 0; i < count; ++i)
            if (std::scanf("%d", &ids[i]) != 1) return 3;
        for (std::uint32_t i = 0; i < count; ++i)
            if (std::scanf("%hhu", &segments[i]) != 1) return 3;
        static model::Result result;
        const etch::Status status = model::ETCH_TASK(_tokens)(workspace, ids, segments, count, result);
        if (status != etch::Status::ok) {
            std::fprintf(stderr, "%s\n", etch::describe(status));
            return 1;
        }
        if (!steps_agree(ids, segments, count, result)) return 4;
        for (const float value : result.ETCH_OUTPUT)
            std::printf("%.9g ", static_cast<double>(value));
        std::printf("\n");
    }
    model::Result none;
    workspace.in_use = 1;
    if (model::step(workspace, 1, none) != etch::Status::workspace_in_use) return 5;
    return 0;
}
