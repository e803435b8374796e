// SPDX-License-Identifier: Apache-2.0
#include "label_sets.hpp"

#include <algorithm>

#include "../model.hpp"
#include "value_list.hpp"

namespace etch::cli {
namespace {

std::vector<std::string_view> all_parts(const std::vector<std::string>& fields) {
    std::vector<std::string_view> parts;
    for (const std::string& field : fields) {
        const std::vector<std::string_view> some = split_value_list(field);
        parts.insert(parts.end(), some.begin(), some.end());
    }
    return parts;
}

bool says_yes_or_no(const std::string& field) {
    return field == "0" || field == "1";
}

}  // namespace

LabelSets::LabelSets(std::optional<std::string_view> spec, const std::vector<std::string>& fields)
    : values_(spec, all_parts(fields)),
      yes_or_no_(output_width() == 1 && !spec && std::all_of(fields.begin(), fields.end(), says_yes_or_no)),
      description_(yes_or_no_ ? "0: without the label, 1: with it" : values_.description() + ", separated by ;") {}

std::optional<std::vector<std::uint32_t>> LabelSets::find(std::string_view field, std::string_view& unknown) const {
    std::vector<std::uint32_t> labels;
    if (yes_or_no_) {
        labels.resize(field == "1" ? 1 : 0);
        return labels;
    }
    for (const std::string_view part : split_value_list(field)) {
        const std::optional<std::uint32_t> label = part.empty() ? std::nullopt : values_.find(part);
        if (!label) {
            unknown = part;
            return std::nullopt;
        }
        labels.push_back(*label);
    }
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
    return labels;
}

}  // namespace etch::cli
