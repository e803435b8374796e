// SPDX-License-Identifier: Apache-2.0
// --evaluate: the model's answers against a labelled table.
#include <unistd.h>

#include <cstdio>

#include "commands.hpp"
#include "dataset.hpp"
#include "etch/hosted.hpp"
#include "failure.hpp"
#include "model.hpp"
#include "output.hpp"
#include "score_tables.hpp"

namespace etch::cli {
namespace {

// One line on a terminal, rewritten a few times a second; nothing where stderr is a file or a pipe.
class Progress {
  public:
    explicit Progress(std::size_t total) : total_(total), shown_(isatty(STDERR_FILENO) != 0) {}
    ~Progress() {
        if (shown_) {
            std::fputs("\r\033[K", stderr);
        }
    }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void at(std::size_t done) {
        constexpr std::uint64_t kInterval = 200'000'000;  // ns
        const std::uint64_t now = hosted::monotonic_nanoseconds();
        if (shown_ && now - last_ >= kInterval) {
            last_ = now;
            std::fprintf(stderr, "\r%zu of %zu rows", done, total_);
        }
    }

  private:
    std::size_t total_;
    bool shown_;
    std::uint64_t last_ = 0;
};

}  // namespace

void evaluate_table(const Options& options) {
    const Dataset dataset = read_dataset(options);
    std::fprintf(stderr, "classify: labels read as %s\n", dataset.label_reading.c_str());

    Scores scores(kModel.label_count);
    std::uint64_t tokens = 0;
    std::uint64_t truncated = 0;
    {
        Progress progress(dataset.examples.size());
        for (std::size_t i = 0; i < dataset.examples.size(); ++i) {
            const Example& example = dataset.examples[i];
            Answer answer = {};
            const Status status = classify({example.first, example.second, options.pair_lines}, answer);
            if (status != Status::ok) {
                fail(kRunFailure, "row %zu: %s", i + 1, describe(status));
            }
            scores.add(example.label, answer.label);
            tokens += answer.tokens;
            truncated += answer.truncated ? 1U : 0U;
            progress.at(i + 1);
        }
    }

    write_output(accuracy_line(scores));
    write_output(format("rows: %zu, mean tokens: %.1f, cut to %u tokens: %llu\n", dataset.examples.size(),
                        static_cast<double>(tokens) / static_cast<double>(dataset.examples.size()),
                        static_cast<unsigned>(kModel.max_tokens), static_cast<unsigned long long>(truncated)));
    write_output(class_table(scores));
    write_output(confusion_tables(scores));
}

}  // namespace etch::cli
