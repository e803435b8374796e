// SPDX-License-Identifier: Apache-2.0
#include "table_run.hpp"

#include <unistd.h>

#include <cstdio>

#include "etch/hosted.hpp"
#include "failure.hpp"
#include "output.hpp"

namespace etch::cli {

TableRun::TableRun(const Dataset& dataset) : dataset_(dataset), shown_(isatty(STDERR_FILENO) != 0) {}

TableRun::~TableRun() {
    if (shown_) {
        std::fputs("\r\033[K", stderr);
    }
}

Answer TableRun::answer(std::size_t row, bool pair) {
    const Example& example = dataset_.examples[row];
    Answer answer = {};
    const Status status = answer_text({example.first, example.second, pair}, answer);
    if (status != Status::ok) {
        fail(kRunFailure, "row %zu: %s", row + 1, describe(status));
    }
    count(answer.tokens, answer.truncated);
    return answer;
}

void TableRun::count(std::uint32_t tokens, bool truncated) {
    ++texts_;
    tokens_ += tokens;
    truncated_ += truncated ? 1U : 0U;
}

void TableRun::done(std::size_t row) {
    constexpr std::uint64_t kInterval = 200'000'000;  // ns; one line, rewritten a few times a second
    const std::uint64_t now = hosted::monotonic_nanoseconds();
    if (shown_ && now - last_shown_ >= kInterval) {
        last_shown_ = now;
        std::fprintf(stderr, "\r%zu of %zu rows", row + 1, dataset_.examples.size());
    }
}

std::string TableRun::summary() const {
    return format("rows: %zu, mean tokens: %.1f, cut to %u tokens: %llu\n", dataset_.examples.size(),
                  static_cast<double>(tokens_) / static_cast<double>(texts_), static_cast<unsigned>(kModel.max_tokens),
                  static_cast<unsigned long long>(truncated_));
}

}  // namespace etch::cli
