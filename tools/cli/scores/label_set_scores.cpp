// SPDX-License-Identifier: Apache-2.0
#include "label_set_scores.hpp"

#include <algorithm>

namespace etch::cli {

void LabelSetScores::add(const std::vector<std::uint32_t>& truth, const std::vector<std::uint32_t>& answer) {
    ++rows_;
    exact_ += truth == answer ? 1U : 0U;
    for (const std::uint32_t label : truth) {
        ++labels_[label].rows;
        labels_[label].correct += std::binary_search(answer.begin(), answer.end(), label) ? 1U : 0U;
    }
    for (const std::uint32_t label : answer) {
        ++labels_[label].answers;
    }
}

LabelMeasures LabelSetScores::measures(std::uint32_t label) const {
    const Counts& counts = labels_[label];
    return label_measures(counts.correct, counts.answers, counts.rows);
}

std::optional<double> LabelSetScores::exact_match() const {
    return ratio(exact_, rows_);
}

std::optional<double> LabelSetScores::micro_f1() const {
    Counts all = {};
    for (const Counts& counts : labels_) {
        all.correct += counts.correct;
        all.answers += counts.answers;
        all.rows += counts.rows;
    }
    return label_measures(all.correct, all.answers, all.rows).f1;
}

std::optional<double> LabelSetScores::macro_f1() const {
    double sum = 0;
    std::uint32_t defined = 0;
    for (std::uint32_t label = 0; label < labels_.size(); ++label) {
        const std::optional<double> f1 = measures(label).f1;
        sum += f1.value_or(0);
        defined += f1 ? 1U : 0U;
    }
    return defined == 0 ? std::nullopt : std::optional(sum / defined);
}

}  // namespace etch::cli
