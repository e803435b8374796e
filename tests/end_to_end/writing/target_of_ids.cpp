// SPDX-License-Identifier: Apache-2.0
// Prints what a model writes for token ids: each line of standard input is a capacity, a number of tokens and their
// ids. A line of output is why it ended, the tokens of the text, the bits of the score and what was written; with
// ETCH_MODEL_SEARCHES one for each sequence that was found. The arguments name the kernels, a number of workers, the
// budget of a step, 0 for a call at once, and how many beams there are, 0 for all, with a comma and how many tokens may
// be written behind it, again 0 for all. With a fifth one, 1, the call goes
// on token by token, behind one step of the budget, unless that is 0. With 2 all lines are written together, with a
// budget in steps; results of texts that have ended must stay. Four more,
// temperature, top_k, top_p and seed, say how tokens are drawn, each line as a text of its own. `list` alone prints the
// names of the kernels that this CPU can run, best first. The model is the one that the macros name.
#include ETCH_MODEL_HEADER

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

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

// Each token is told when it is there.
etch::Status by_token(const std::int32_t* ids, std::uint32_t count, std::uint64_t budget, std::int32_t* target,
                      std::uint32_t capacity, model::Result& result) {
    etch::Status status = model::begin_tokens(workspace, ids, count);
    if (status == etch::Status::ok) status = etch::Status::in_progress;
    if (status == etch::Status::in_progress && budget != 0)
        status = model::step_tokens(workspace, budget, target, capacity, result);
    while (status == etch::Status::in_progress) {
        const std::uint32_t before = result.count;
        status = model::next_tokens(workspace, target, capacity, result);
        if (status == etch::Status::in_progress && result.count != before + 1) return etch::Status::golden_mismatch;
    }
    return status;
}

// Every call is sent away while another one is under way.
bool has_turns() {
    const etch::Status away = etch::Status::workspace_in_use;
    const std::int32_t id = 0;
    const std::uint32_t begins[] = {0, 1};
    std::uint32_t taken;
    std::int32_t target;
    model::Result result{};
    workspace.in_use = 1;
    const bool has = model::ETCH_TASK(_tokens)(workspace, &id, 1, &target, 1, result) == away &&
                     model::begin_tokens(workspace, &id, 1) == away &&
                     model::step_tokens(workspace, 1, &target, 1, result) == away &&
                     model::next_tokens(workspace, &target, 1, result) == away &&
                     model::ETCH_TASK(_tokens_batch)(workspace, &id, begins, 1, &target, 1, &result) == away &&
                     model::begin_tokens_batch(workspace, &id, begins, 1, 0, taken) == away &&
                     model::step_tokens_batch(workspace, 1, &target, 1, &result) == away &&
#if ETCH_MODEL_SEARCHES
                     model::found_tokens(workspace, 0, &target, 1, result) == away &&
#endif
                     model::self_test(workspace) == away;
    workspace.in_use = 0;
    return has;
}

void print(const model::Result& result, const std::int32_t* target) {
    std::uint32_t score;
    std::memcpy(&score, &result.score, sizeof score);
    std::printf("%u %u %08x", static_cast<unsigned>(result.ended), result.tokens, score);
    for (std::uint32_t i = 0; i < result.count; ++i)
        std::printf(" %d", target[i]);
    std::printf("\n");
}

// A group after the other.
etch::Status together_in_steps(const std::vector<std::int32_t>& ids, const std::vector<std::uint32_t>& begins,
                               std::uint64_t budget, std::int32_t* targets, std::uint32_t capacity,
                               model::Result* results) {
    const std::size_t count = begins.size() - 1;
    std::uint32_t taken = 0;
    etch::Status status = etch::Status::ok;
    for (std::size_t first = 0; first < count && status == etch::Status::ok; first += taken) {
        status = model::begin_tokens_batch(workspace, ids.data(), begins.data(), count, first, taken);
        if (status != etch::Status::ok) break;
        if (taken == 0 || taken > model::kBeams) return etch::Status::golden_mismatch;
        do {
            status = model::step_tokens_batch(workspace, budget, targets + first * capacity, capacity, results + first);
        } while (status == etch::Status::in_progress);
    }
    return status;
}

// All lines at once; they have the same capacity.
int at_once(std::uint64_t budget) {
    std::vector<std::int32_t> ids;
    std::vector<std::uint32_t> begins = {0};
    std::uint32_t capacity = 0;
    std::uint32_t tokens;
    while (std::scanf("%u %u", &capacity, &tokens) == 2) {
        for (std::uint32_t i = 0; i < tokens; ++i) {
            ids.push_back(0);
            if (std::scanf("%d", &ids.back()) != 1) return 3;
        }
        begins.push_back(static_cast<std::uint32_t>(ids.size()));
    }
    const std::size_t count = begins.size() - 1;
    std::vector<std::int32_t> targets(count * capacity + 1, -1);
    std::vector<model::Result> results(count);
    const etch::Status status = budget != 0
                                    ? together_in_steps(ids, begins, budget, targets.data(), capacity, results.data())
                                    : model::ETCH_TASK(_tokens_batch)(workspace, ids.data(), begins.data(), count,
                                                                      targets.data(), capacity, results.data());
    if (status != etch::Status::ok || targets.back() != -1) {
        std::fprintf(stderr, "%s\n", etch::describe(status));
        return 1;
    }
    for (std::size_t i = 0; i < count; ++i)
        print(results[i], targets.data() + i * capacity);
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (std::strcmp(argv[1], "list") == 0) {
        for (std::size_t i = 0; !model::usable_kernel(i).empty(); ++i) {
            const std::string_view name = model::usable_kernel(i);
            std::printf("%.*s\n", static_cast<int>(name.size()), name.data());
        }
        return 0;
    }
    const bool goes_on = argc > 5 && argv[5][0] == '1';
    if (model::select_kernel(workspace, argv[1]) != etch::Status::ok) return 2;
    std::uint32_t workers = static_cast<std::uint32_t>(std::atoi(argv[2]));
    const std::uint64_t budget = std::strtoull(argv[3], nullptr, 10);
    const etch::Executor executor{workers, &workers, run_all, scratch};
    if (workers > kMostWorkers) return 2;
    if (workers > 1) workspace.executor = &executor;
    char* behind_beams;
    workspace.beams = static_cast<std::uint8_t>(std::strtoul(argv[4], &behind_beams, 10));
    workspace.max_target = static_cast<std::uint32_t>(std::atoi(behind_beams + 1));
    etch::Sampling sampling;
    if (argc > 9) {
        sampling.temperature = std::strtof(argv[6], nullptr);
        sampling.top_k = static_cast<std::uint32_t>(std::atoi(argv[7]));
        sampling.top_p = std::strtof(argv[8], nullptr);
        sampling.seed = std::strtoull(argv[9], nullptr, 10);
        workspace.sampling = &sampling;
    }
    if (argc > 5 && argv[5][0] == '2') return at_once(budget);
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
        const etch::Status status = goes_on ? by_token(ids, count, budget, target, capacity, result)
                                    : budget != 0
                                        ? in_steps(ids, count, budget, target, capacity, result)
                                        : model::ETCH_TASK(_tokens)(workspace, ids, count, target, capacity, result);
        if (status != etch::Status::ok || target[capacity] != -1 || result.truncated) {
            std::fprintf(stderr, "%s\n", etch::describe(status));
            return 1;
        }
        print(result, target);
        ++sampling.text;
#if ETCH_MODEL_SEARCHES
        for (std::uint32_t rank = 1; model::found_tokens(workspace, rank, target, capacity, result) == etch::Status::ok;
             ++rank)
            print(result, target);
#endif
    }
    return has_turns() && model::self_test(workspace) == etch::Status::ok ? 0 : 4;
}
