// SPDX-License-Identifier: Apache-2.0
// Any number of labels a row: what is right and wrong of each. No model in here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "label_measures.hpp"

namespace etch::cli {

class LabelSetScores {
  public:
    explicit LabelSetScores(std::uint32_t labels) : labels_(labels) {}

    // Labels of one row, each in ascending order.
    void add(const std::vector<std::uint32_t>& truth, const std::vector<std::uint32_t>& answer);

    std::uint64_t rows() const { return rows_; }
    LabelMeasures measures(std::uint32_t label) const;

    // From 0 to 1; nothing where the denominator is 0.
    std::optional<double> exact_match() const;  // rows whose labels are all right
    std::optional<double> micro_f1() const;     // of all labels' counts together
    std::optional<double> macro_f1() const;     // mean of the labels that have one

  private:
    struct Counts {
        std::uint64_t correct;
        std::uint64_t answers;
        std::uint64_t rows;
    };

    std::vector<Counts> labels_;
    std::uint64_t rows_ = 0;
    std::uint64_t exact_ = 0;
};

}  // namespace etch::cli
