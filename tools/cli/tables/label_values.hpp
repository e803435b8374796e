// SPDX-License-Identifier: Apache-2.0
// What the label column of a table says, as indices of the model's labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace etch::cli {

class LabelValues {
  public:
    // `spec` as in --labels: `0`, `1`, `names`, or names separated by commas in the order of the model's labels.
    // Without it the values decide: all of them label names -> names; else numbers, from 0 if a 0 occurs, from 1 if the
    // number of labels does. Where neither does and both would fit, and where a spec does not fit the model, the
    // program ends with exit code 2.
    LabelValues(std::optional<std::string_view> spec, const std::vector<std::string_view>& values);

    // Index of the label that `value` means; nothing where it means none.
    std::optional<std::uint32_t> find(std::string_view value) const;

    // For the user: how the values are read.
    const std::string& description() const { return description_; }

  private:
    std::optional<std::uint32_t> find_name(std::string_view value) const;

    std::vector<std::string> names_;  // of the labels, in the model's order
    std::optional<std::uint32_t> base_;
    std::string description_;
};

}  // namespace etch::cli
