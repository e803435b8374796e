// SPDX-License-Identifier: Apache-2.0
#include "confusion_matrix.hpp"

#include <numeric>

namespace etch::cli {
std::uint64_t ConfusionMatrix::rows_of(std::uint32_t truth) const {
    std::uint64_t sum = 0;
    for (std::uint32_t answer = 0; answer < labels_; ++answer) {
        sum += count(truth, answer);
    }
    return sum;
}

std::uint64_t ConfusionMatrix::answers_of(std::uint32_t answer) const {
    std::uint64_t sum = 0;
    for (std::uint32_t truth = 0; truth < labels_; ++truth) {
        sum += count(truth, answer);
    }
    return sum;
}

std::uint64_t ConfusionMatrix::rows() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t ConfusionMatrix::correct() const {
    std::uint64_t sum = 0;
    for (std::uint32_t label = 0; label < labels_; ++label) {
        sum += count(label, label);
    }
    return sum;
}

std::optional<double> ConfusionMatrix::accuracy() const {
    return ratio(correct(), rows());
}

LabelMeasures ConfusionMatrix::measures(std::uint32_t label) const {
    return label_measures(count(label, label), answers_of(label), rows_of(label));
}

}  // namespace etch::cli
