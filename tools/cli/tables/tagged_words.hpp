// SPDX-License-Identifier: Apache-2.0
// A file of tagged words, as CoNLL's: a word a line with its tag in the last column, columns separated by spaces or
// TABs, an empty line between two texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../arguments.hpp"

namespace etch::cli {

struct TaggedText {
    std::string text;  // the words with a space between
    std::vector<std::string_view> words;
    std::vector<std::string_view> tags;
    std::size_t line;  // of the first word
};

struct TaggedFile {
    std::string bytes;  // that the views are of
    std::vector<TaggedText> texts;
};

// At most --limit texts, at least one. Another kind of file ends the program with exit code 2; what is wrong with the
// file itself, or a tag that is not one of the model's labels, with 1 and the line.
TaggedFile read_tagged_words(const Options& options);

}  // namespace etch::cli
