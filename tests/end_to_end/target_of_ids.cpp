// SPDX-License-Identifier: Apache-2.0
// Prints what a model writes for token ids: each line of standard input is a capacity, a number of tokens and their
// ids. A line of output is why it ended, the tokens of the text, the bits of the score and what was written; with
// ETCH_MODEL_SEARCHES one for each sequence that was found. The arguments name the kernels, a number of workers, the
// budget of a step, 0 for a call at once, and how many beams there are, 0 for all. The model is the one that the macros
// name.
#include ETCH_MODEL_HEADER

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace model = etch::ETCH_MODEL;

namespace {

constexpr std::uint32_t kMostWorkers = 3;
model::Workspace workspace;
alignas(64) std::uint8_t scratch[(kMostWorkers - 1) * model::kScratchBytes];

// One worker after the other: the last one first.
void run_all(void* context, void (*task)(void* argument, std::uint32_t worker), void* argument) noexcept {
    for (std::uint32_t worker = *static_cast<std::uint32_t*>(context); worker-- > 0;)
        task(argument, worker);
}

etch::Status in_steps(const std::int32_t* ids, std::uint32_t count, std::uint64_t budget, std::int32_t* target,
                      std::uint32_t capacity, model::Result& result) {
    etch::Status status = model::begin_tokens(workspace, ids, count);
    if (status == etch::Status::ok) status = etch::Status::in_progress;
    while (status == etch::Status::in_progress)
        status = model::step_tokens(workspace, budget, target, capacity, result);
    return status;
}

void print(const model::Result& result, const std::int32_t* target) {
    std::uint32_t score;
    std::memcpy(&score, &result.score, sizeof score);
    std::printf("%u %u %08x", static_cast<unsigned>(result.ended), result.tokens, score);
    for (std::uint32_t i = 0; i < result.count; ++i)
        std::printf(" %d", target[i]);
    std::printf("\n");
}

}  // namespace

int main(int, char** argv) {
    if (model::select_kernel(workspace, argv[1]) != etch::Status::ok) return 2;
    std::uint32_t workers = static_cast<std::uint32_t>(std::atoi(argv[2]));
    const std::uint64_t budget = std::strtoull(argv[3], nullptr, 10);
    const etch::Executor executor{workers, &workers, run_all, scratch};
    if (workers > kMostWorkers) return 2;
    if (workers > 1) workspace.executor = &executor;
    workspace.beams = static_cast<std::uint8_t>(std::atoi(argv[4]));
    std::uint32_t capacity;
    std::uint32_t count;
    while (std::scanf("%u %u", &capacity, &count) == 2) {
        static std::int32_t ids[model::kMaxTokens];
        static std::int32_t target[model::kMaxTarget + 1];
        if (count > model::kMaxTokens || capacity > model::kMaxTarget) return 3;
        for (std::uint32_t i = 0; i < count; ++i)
            if (std::scanf("%d", &ids[i]) != 1) return 3;
        target[capacity] = -1;  // nothing is written behind what there is room for
        model::Result result{};
        const etch::Status status = budget != 0
                                        ? in_steps(ids, count, budget, target, capacity, result)
                                        : model::ETCH_TASK(_tokens)(workspace, ids, count, target, capacity, result);
        if (status != etch::Status::ok || target[capacity] != -1 || result.truncated) {
            std::fprintf(stderr, "%s\n", etch::describe(status));
            return 1;
        }
        print(result, target);
#if ETCH_MODEL_SEARCHES
        for (std::uint32_t rank = 1; model::found_tokens(workspace, rank, target, capacity, result) == etch::Status::ok;
             ++rank)
            print(result, target);
#endif
    }
    return model::self_test(workspace) == etch::Status::ok ? 0 : 4;
}
