// SPDX-License-Identifier: Apache-2.0
// One label a row: the confusion matrix and what follows from it. No model in here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "label_measures.hpp"

namespace etch::cli {

class ConfusionMatrix {
  public:
    explicit ConfusionMatrix(std::uint32_t labels) : labels_(labels), counts_(std::size_t{labels} * labels) {}

    void add(std::uint32_t truth, std::uint32_t answer) { ++counts_[std::size_t{truth} * labels_ + answer]; }

    std::uint32_t labels() const { return labels_; }
    std::uint64_t count(std::uint32_t truth, std::uint32_t answer) const {
        return counts_[std::size_t{truth} * labels_ + answer];
    }
    std::uint64_t rows_of(std::uint32_t truth) const;      // rows that have the label
    std::uint64_t answers_of(std::uint32_t answer) const;  // rows that were given it
    std::uint64_t rows() const;
    std::uint64_t correct() const;

    // From 0 to 1; nothing where the denominator is 0.
    std::optional<double> accuracy() const;
    LabelMeasures measures(std::uint32_t label) const;

  private:
    std::uint32_t labels_;
    std::vector<std::uint64_t> counts_;  // [truth][answer]
};

}  // namespace etch::cli
