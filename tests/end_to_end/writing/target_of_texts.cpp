// SPDX-License-Identifier: Apache-2.0
// Prints what a model writes for texts, by its C functions: each line of standard input is a capacity, a space and a
// text. A line of output is why it ended, a space and what was written. The argument is the budget of a step, 0 for a
// call at once; with another one the call goes on token by token. With "batch" all texts are one call, with the
// capacity of the last one. The model is the one that the macros name.
#include ETCH_C_HEADER

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

ETCH_MODEL_WORKSPACE workspace;

void print(const ETCH_MODEL_RESULT& result, const char* target) {
    std::printf("%u %.*s\n", static_cast<unsigned>(result.ended), static_cast<int>(result.bytes), target);
}

int batch() {
    static char line[4096];
    std::vector<std::string> lines;
    std::size_t capacity = 0;
    while (std::fgets(line, sizeof line, stdin) != nullptr) {
        char* text = nullptr;
        capacity = std::strtoull(line, &text, 10);
        ++text;
        lines.emplace_back(text, std::strcspn(text, "\n"));
    }
    std::vector<etch_text> texts;
    for (const std::string& one : lines)
        texts.push_back({one.data(), one.size()});
    std::vector<char> targets(lines.size() * capacity);
    std::vector<ETCH_MODEL_RESULT> results(lines.size());
    const auto write = [&](const etch_text* of) {
        return ETCH_C_BATCH(&workspace, of, lines.size(), targets.data(), capacity, results.data());
    };
    const std::vector<etch_text> inside(lines.size(), {targets.data(), 1});
    if (write(inside.data()) != ETCH_TEXT_OVERLAPS || write(texts.data()) != ETCH_OK) return 1;
    for (std::size_t i = 0; i < lines.size(); ++i)
        print(results[i], targets.data() + i * capacity);
    std::uint32_t taken = 0;
    for (std::size_t first = 0; first < lines.size(); first += taken) {  // the same in steps
        if (ETCH_C(_begin_batch)(&workspace, texts.data(), lines.size(), first, &taken) != ETCH_OK) return 5;
        std::vector<char> of_group(taken * capacity);
        std::vector<ETCH_MODEL_RESULT> found(taken);
        etch_status status = ETCH_IN_PROGRESS;
        while (status == ETCH_IN_PROGRESS)
            status = ETCH_C(_step_batch)(&workspace, 1000, of_group.data(), capacity, found.data());
        if (status != ETCH_OK) return 6;
        for (std::uint32_t i = 0; i < taken; ++i) {
            const ETCH_MODEL_RESULT& meant = results[first + i];
            if (found[i].bytes != meant.bytes || found[i].score != meant.score || found[i].ended != meant.ended)
                return 7;
            const char* const text = targets.data() + (first + i) * capacity;
            if (std::memcmp(text, of_group.data() + i * capacity, meant.bytes) != 0) return 8;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    if (std::strcmp(argv[1], "batch") == 0) return batch();
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
                status = argc > 2 ? ETCH_C(_next)(&workspace, target, capacity, &result)
                                  : ETCH_C(_step)(&workspace, budget, target, capacity, &result);
                if (result.bytes < there || target[capacity] != '#') return 3;  // what is there stays
                there = result.bytes;
                if (status == ETCH_OK) break;
            }
        }
        if (status != ETCH_OK || result.bytes > capacity || target[capacity] != '#') return 1;
        print(result, target);
    }
    return ETCH_C(_self_test)(&workspace) == ETCH_OK ? 0 : 4;
}
