// SPDX-License-Identifier: Apache-2.0
// How a thread rounds, whether it flushes subnormals to zero and what it traps, which the program around a call may
// have changed, does not show in the bits, on any kernel: not in the thread that calls, not in the workers of an
// executor. Each has its own ways again afterwards. Of the default model, or of the one that the macros name.
#if !defined(ETCH_MODEL_HEADER)
#define ETCH_MODEL_HEADER <agnews.hpp>
#define ETCH_MODEL agnews
#define ETCH_TASK(suffix) classify##suffix
#endif
#include "float_modes.hpp"

#include ETCH_MODEL_HEADER

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "texts.hpp"

namespace {

using namespace etch;
using namespace promises;
namespace model = etch::ETCH_MODEL;

constexpr std::uint32_t kWorkers = 3;
alignas(64) std::uint8_t scratch[(kWorkers - 1) * model::kScratchBytes];
std::vector<FloatBits> modes;
std::size_t worker_mode = 0;
std::uint64_t forks = 0;
bool left_alone = true;

// Workers with other ways than the caller's, each of them another one every time.
void run_workers(void*, void (*task)(void*, std::uint32_t), void* argument) noexcept {
    const FloatBits callers = float_bits();
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker) {
        const FloatBits own = modes[++worker_mode % modes.size()];
        set_float_bits(own);
        task(argument, worker);
        left_alone = left_alone && float_bits() == own;
    }
    set_float_bits(callers);
    ++forks;
}

constexpr Executor kExecutor{kWorkers, nullptr, run_workers, scratch};

struct Answers {
    model::Result results[5];
};

// Every way to ask for an answer, with the thread in this mode.
bool ask(model::Workspace& workspace, std::string_view text, FloatBits mode, Answers& answers) {
    static model::Encoding tokens;
    std::memset(static_cast<void*>(&answers), 0, sizeof answers);
    const std::string_view both[] = {text, text.substr(0, text.size() / 2)};
    Status status[5];
    set_float_bits(mode);
    status[0] = model::ETCH_TASK()(workspace, text, answers.results[0]);
    status[1] = model::ETCH_TASK(_batch)(workspace, both, 2, &answers.results[1]);
    status[2] = model::encode(workspace, text, tokens);
    status[3] = model::ETCH_TASK(_tokens)(workspace, tokens.ids, nullptr, tokens.count, answers.results[3]);
    status[4] = model::begin(workspace, text);
    while (status[4] == Status::ok || status[4] == Status::in_progress) {
        status[4] = model::step(workspace, 100'000, answers.results[4]);
        if (status[4] == Status::ok) break;
    }
    left_alone = left_alone && float_bits() == mode;
    set_float_bits(kUsual);
    for (const Status one : status) {
        if (one != Status::ok) return false;
    }
    return true;
}

}  // namespace

int main() {
    if (!float_bits_have_effect()) return 3;
    modes = all_float_bits();
    const auto owner = std::make_unique<model::Workspace>();
    model::Workspace& workspace = *owner;
    const std::string_view texts[] = {kShortTexts[0], kShortTexts[5], kMiddleText};
    int calls = 0;
    for (std::size_t kernel = 0; !model::usable_kernel(kernel).empty(); ++kernel) {
        if (model::select_kernel(workspace, model::usable_kernel(kernel)) != Status::ok) return 1;
        for (const std::string_view text : texts) {
            Answers expected;
            workspace.executor = nullptr;
            if (!ask(workspace, text, kUsual, expected)) return 1;
            for (const FloatBits mode : modes) {
                Answers found;
                workspace.executor = calls % 2 == 0 ? nullptr : &kExecutor;
                if (!ask(workspace, text, mode, found)) return 1;
                if (std::memcmp(&expected, &found, sizeof found) != 0) {
                    std::printf("kernels %zu, mode %llx: other bits\n", kernel, static_cast<unsigned long long>(mode));
                    return 1;
                }
                ++calls;
            }
        }
    }
    workspace.executor = nullptr;
    model::select_kernel(workspace, model::usable_kernel(0));
    for (const FloatBits mode : modes) {
        set_float_bits(mode);
        const Status status = model::self_test(workspace);
        left_alone = left_alone && float_bits() == mode;
        set_float_bits(kUsual);
        if (status != Status::ok) return 1;
    }
    if (!left_alone) {
        std::printf("a call changed how its thread treats floats\n");
        return 1;
    }
    std::printf("%d times all calls, %llu shared ops: same bits\n", calls, static_cast<unsigned long long>(forks));
    return 0;
}
