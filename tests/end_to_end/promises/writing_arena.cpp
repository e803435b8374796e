// SPDX-License-Identifier: Apache-2.0
// As arena.cpp, of a generative model: whatever the arena holds before a call, at once or in steps, what is written
// and its score have the same bits, and nothing outside the workspace and the target is touched.
#include ETCH_MODEL_HEADER

#include <cstdio>
#include <cstring>
#include <string>

#include "texts.hpp"

namespace {

namespace model = etch::ETCH_MODEL;
using etch::Status;

constexpr unsigned char kGuard = 0x5C;
constexpr std::size_t kTarget = 1 << 14;

struct Guarded {
    unsigned char before[4096];
    model::Workspace workspace;
    unsigned char between[4096];
    char target[kTarget];
    unsigned char after[4096];

    void arm() {
        std::memset(before, kGuard, sizeof before);
        std::memset(between, kGuard, sizeof between);
        std::memset(after, kGuard, sizeof after);
    }
    bool whole() const { return is(before) && is(between) && is(after); }
    static bool is(const unsigned char (&bytes)[4096]) {
        for (const unsigned char byte : bytes) {
            if (byte != kGuard) return false;
        }
        return true;
    }
} guarded;

// Zeros, ones, signalling NaNs, infinities.
constexpr std::uint32_t kFills[] = {0, 0xFFFFFFFF, 0x7FA00000, 0x7F800000};

void fill(std::uint32_t word) {
    for (std::size_t i = 0; i + 4 <= sizeof guarded.workspace.arena; i += 4)
        std::memcpy(guarded.workspace.arena + i, &word, sizeof word);
}

Status write(std::string_view text, bool in_steps, model::Result& result) {
    model::Workspace& workspace = guarded.workspace;
    if (!in_steps) return model::ETCH_TASK()(workspace, text, guarded.target, kTarget, result);
    Status status = model::begin(workspace, text);
    if (status == Status::ok) status = Status::in_progress;
    while (status == Status::in_progress)
        status = model::step(workspace, 10'000, guarded.target, kTarget, result);
    return status;
}

// What was written, with the bits of its score.
std::string told(const model::Result& result) {
    std::string all(guarded.target, result.bytes);
    all.append(reinterpret_cast<const char*>(&result.score), sizeof result.score);
    return all + std::to_string(result.count) + " " + std::to_string(static_cast<int>(result.ended));
}

}  // namespace

int main() {
    guarded.arm();
    int calls = 0;
    for (std::size_t kernel = 0; !model::usable_kernel(kernel).empty(); ++kernel) {
        if (model::select_kernel(guarded.workspace, model::usable_kernel(kernel)) != Status::ok) return 1;
        for (const std::string_view text :
             {promises::kShortTexts[0], promises::kShortTexts[1], promises::kMiddleText}) {
            std::string first;
            for (const std::uint32_t word : kFills) {
                for (const bool in_steps : {false, true}) {
                    model::Result result{};
                    fill(word);
                    if (write(text, in_steps, result) != Status::ok || !guarded.whole()) return 1;
                    ++calls;
                    if (first.empty()) first = told(result);
                    if (told(result) != first) {
                        std::printf("kernels %zu, fill %08x: what the arena held before shows\n", kernel, word);
                        return 1;
                    }
                }
            }
        }
    }
    std::printf("%d calls: same bits\n", calls);
    return 0;
}
