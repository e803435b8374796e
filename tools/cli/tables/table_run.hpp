// SPDX-License-Identifier: Apache-2.0
// The model over the rows of a table: progress on a terminal, and what the texts cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../model.hpp"
#include "../scores/score_report.hpp"
#include "dataset.hpp"

namespace etch::cli {

class TableRun {
  public:
    explicit TableRun(const Dataset& dataset);
    ~TableRun();
    TableRun(const TableRun&) = delete;
    TableRun& operator=(const TableRun&) = delete;

    // The model's answer to a row as one input, a pair where `pair`; rows are asked for in order. A text that the model
    // refuses ends the program.
    Answer answer(std::size_t row, bool pair);

    // For rows that are more than one input: counts a text.
    void count(std::uint32_t tokens, bool truncated);

    // After each row.
    void done(std::size_t row);

    // What the rows were: `rows: 100, mean tokens: 12.3, cut to 128 tokens: 4`.
    struct Totals {
        std::size_t rows;
        double mean_tokens;
        std::uint64_t truncated;

        void add_to(ScoreReport& report) const;
    };
    Totals totals() const;

  private:
    // The rows from `first` on that are answered together: where one of them is refused, each by itself up to that.
    void answer_from(std::size_t first);

    const Dataset& dataset_;
    std::size_t first_ = 0;         // row of the first of
    std::vector<Answer> answers_;   // those that are answered already
    std::size_t end_ = 0;           // behind the rows that were tried together
    bool shown_;                    // progress, where stderr is a terminal
    std::uint64_t last_shown_ = 0;  // ns
    std::uint64_t texts_ = 0;
    std::uint64_t tokens_ = 0;
    std::uint64_t truncated_ = 0;
};

}  // namespace etch::cli
