// SPDX-License-Identifier: Apache-2.0
// Prints a model's outputs for token ids: each line of standard input is a number of tokens, their ids and their
// segments. The argument names the kernels. The model is the one that the macros name; ETCH_OUTPUT is the member of its
// Result.
#include ETCH_MODEL_HEADER

#include <cstdint>
#include <cstdio>

namespace model = etch::ETCH_MODEL;

static model::Workspace workspace;

int main(int, char** argv) {
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
        for (const float value : result.ETCH_OUTPUT)
            std::printf("%.9g ", static_cast<double>(value));
        std::printf("\n");
    }
    return 0;
}
