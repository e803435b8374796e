// SPDX-License-Identifier: Apache-2.0
#include "task_parts.hpp"

#include "text/format.hpp"
#include "text/utf8.hpp"

namespace etch::cli {
namespace {

const Option kPairOption[] = {
    {"--pair", 2, kTexts, kNone,
     [](Options& o, Values v) {
         o.pairs.push_back({v[0], v[1]});
     }},
    {"--pairs", 0, kTexts | kRows, kNone, [](Options& o, Values) { o.pair_lines = true; }},
};

const Option kTopOption[] = {
    {"--top", 1, kTexts, kNone, [](Options& o, Values v) { o.top = number("--top", v[0], 1, 1000000); }},
};

const Option kTableOption[] = {
    {"--label-column", 1, kRows, kNone, [](Options& o, Values v) { o.label_column = v[0]; }},
    {"--text-columns", 1, kRows, kNone, [](Options& o, Values v) { o.text_columns = v[0]; }},
    {"--header", 0, kRows, kNone, [](Options& o, Values) { o.header = true; }},
    {"--no-header", 0, kRows, kNone, [](Options& o, Values) { o.header = false; }},
};

}  // namespace

const OptionGroup kPairOptions(kPairOption);
const OptionGroup kTopOptions(kTopOption);
const OptionGroup kTableOptions(kTableOption);

void accept_all(const Options&) {}

std::string listed_names(const char* what) {
    constexpr std::uint32_t kShown = 20;
    std::string out = what;
    for (std::uint32_t i = 0; i < kModel.width && i < kShown; ++i) {
        out += i == 0 ? " " : ", ";
        append_printable(out, label(i).substr(0, 200));
    }
    return kModel.width > kShown ? out + format(", … (%u)", static_cast<unsigned>(kModel.width)) : out;
}

}  // namespace etch::cli
