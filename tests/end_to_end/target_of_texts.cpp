// SPDX-License-Identifier: Apache-2.0
// Prints what a model writes for texts, by its C functions: each line of standard input is a capacity, a space and a
// text. A line of output is why it ended, a space and what was written. The argument is the budget of a step, 0 for a
// call at once. The model is the one that the macros name.
#include ETCH_C_HEADER

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

ETCH_MODEL_WORKSPACE workspace;

}  // namespace

int main(int, char** argv) {
    const std::uint64_t budget = std::strtoull(argv[1], nullptr, 10);
    static char line[4096];
    while (std::fgets(line, sizeof line, stdin) != nullptr) {
        char* text = nullptr;
        const std::size_t capacity = std::strtoull(line, &text, 10);
        const std::size_t length = std::strcspn(++text, "\n");
        static char target[4096];
        std::memset(target, '#', sizeof target);
        ETCH_MODEL_RESULT result{};
        etch_status status = ETCH_OK;
        std::uint32_t there = 0;
        if (budget == 0) {
            status = ETCH_C_WRITE(&workspace, text, length, target, capacity, &result);
        } else {
            status = ETCH_C(_begin)(&workspace, text, length);
            while (status == ETCH_OK || status == ETCH_IN_PROGRESS) {
                status = ETCH_C(_step)(&workspace, budget, target, capacity, &result);
                if (result.bytes < there || target[capacity] != '#') return 3;  // what is there stays
                there = result.bytes;
                if (status == ETCH_OK) break;
            }
        }
        if (status != ETCH_OK || result.bytes > capacity || target[capacity] != '#') return 1;
        std::printf("%u %.*s\n", static_cast<unsigned>(result.ended), static_cast<int>(result.bytes), target);
    }
    return ETCH_C(_self_test)(&workspace) == ETCH_OK ? 0 : 4;
}
