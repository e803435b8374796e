// SPDX-License-Identifier: Apache-2.0
// Options, help and checks that several tasks have.
#pragma once

#include <string>

#include "options.hpp"

namespace etch::cli {

extern const OptionGroup kPairOptions;        // --pair, --pairs
extern const OptionGroup kTopOptions;         // --top
extern const OptionGroup kTagOptions;         // --aggregation, --probabilities
extern const OptionGroup kAnswerOptions;      // a question, its context, windows, --logits, --top
extern const OptionGroup kSimilarityOptions;  // --similarity
extern const OptionGroup kTableOptions;       // columns and header of --evaluate

inline constexpr const char* kTextCut = "text cut to %u tokens\n";

inline constexpr const char* kPairHelp = R"(
  --pair A B           the two texts A and B together; may be repeated
  --pairs              lines are A<TAB>B
)";

inline constexpr const char* kTextColumnsHelp = R"(
  --text-columns C,…   numbers or names, joined by a space (default: all but the label's); two of them with --pairs
)";

inline constexpr const char* kJoinedColumnsHelp = R"(
  --text-columns C,…   numbers or names, joined by a space (default: all but the label's)
)";

inline constexpr const char* kTwoTextColumnsHelp = R"(
  --text-columns A,B   numbers or names of the two texts (default: all but the label's)
)";

inline constexpr const char* kHeaderHelp = R"(
  --header             the first row names the columns (implied where a column is given by name)
  --no-header          the first row is data (default)
)";

// Nothing to refuse.
void accept_all(const Options& options);

// Of models that embed: refuses pairs as one text where each is compared with the other.
void check_one_by_one(const Options& options);

// The names of labels or values, behind `what`.
std::string listed_names(const char* what);

}  // namespace etch::cli
