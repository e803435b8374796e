// SPDX-License-Identifier: Apache-2.0
// What the label column says where a row may have several labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "label_values.hpp"

namespace etch::cli {

class LabelSets {
  public:
    // `spec` as in --labels; see LabelValues. A field holds labels separated by semicolons; an empty one is a row
    // without labels. A model of one label may also be given 0 and 1: without it, with it.
    LabelSets(std::optional<std::string_view> spec, const std::vector<std::string>& fields);

    // Ascending, each once. Nothing where a part of the field means no label; `unknown` is that part.
    std::optional<std::vector<std::uint32_t>> find(std::string_view field, std::string_view& unknown) const;

    // For the user: how the values are read.
    const std::string& description() const { return description_; }

  private:
    LabelValues values_;
    bool yes_or_no_;
    std::string description_;
};

}  // namespace etch::cli
