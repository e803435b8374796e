// SPDX-License-Identifier: Apache-2.0
#include "table_run.hpp"

#include <unistd.h>

#include <cstdio>

#include "../failure.hpp"
#include "../text/format.hpp"
#include "etch/hosted.hpp"

namespace etch::cli {

TableRun::TableRun(const Dataset& dataset) : dataset_(dataset), shown_(isatty(STDERR_FILENO) != 0) {}

TableRun::~TableRun() {
    if (shown_) {
        std::fputs("\r\033[K", stderr);
    }
}

void TableRun::answer_from(std::size_t first) {
    constexpr std::size_t kRows = 256;  // enough for every thread, and for progress that moves
    std::vector<std::string_view> texts;
    for (std::size_t row = first; row < dataset_.examples.size() && texts.size() < kRows; ++row) {
        texts.push_back(dataset_.examples[row].first);
    }
    first_ = first;
    end_ = first + texts.size();
    answer_batch(texts, answers_);
}

Answer TableRun::answer(std::size_t row, bool pair) {
    if (!pair && row >= end_) {
        answer_from(row);
    }
    const Example& example = dataset_.examples[row];
    Answer answer = {};
    if (!pair && row - first_ < answers_.size()) {
        answer = answers_[row - first_];
    } else if (const Status status = answer_text({example.first, example.second, pair}, answer); status != Status::ok) {
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

TableRun::Totals TableRun::totals() const {
    return {dataset_.examples.size(), static_cast<double>(tokens_) / static_cast<double>(texts_), truncated_};
}

void TableRun::Totals::add_to(ScoreReport& report) const {
    report.text(format("rows: %zu, mean tokens: %.1f, cut to %u tokens: %llu\n", rows, mean_tokens,
                       static_cast<unsigned>(kModel.max_tokens), static_cast<unsigned long long>(truncated)));
    report.field("rows", std::uint64_t{rows});
    report.field("mean_tokens", std::optional(mean_tokens));
    report.field("truncated", truncated);
}

}  // namespace etch::cli
