// SPDX-License-Identifier: Apache-2.0
#include "tagged_words.hpp"

#include <algorithm>

#include "../failure.hpp"
#include "../input.hpp"
#include "../model.hpp"

namespace etch::cli {
namespace {

constexpr std::string_view kEndings[] = {".conll", ".bio", ".iob"};
constexpr std::string_view kSpaces = " \t\r";

void check_ending(std::string_view path) {
    const std::string_view ending = path.substr(std::min(path.size(), path.rfind('.')));
    if (std::find(std::begin(kEndings), std::end(kEndings), ending) == std::end(kEndings)) {
        fail(kWrongUse, "--evaluate: expected a file named .conll, .bio or .iob, got %s", quoted(path).c_str());
    }
}

bool is_label(std::string_view tag) {
    for (std::uint32_t i = 0; i < output_width(); ++i) {
        if (label(i) == tag) {
            return true;
        }
    }
    return tag == "O";
}

std::string_view trimmed(std::string_view line) {
    const std::size_t first = line.find_first_not_of(kSpaces);
    return first == std::string_view::npos ? std::string_view()
                                           : line.substr(first, line.find_last_not_of(kSpaces) + 1 - first);
}

}  // namespace

TaggedFile read_tagged_words(const Options& options) {
    check_ending(options.table);
    TaggedFile file = {read_file(options.table), {}};
    const std::string name = quoted(options.table);
    std::string_view rest = file.bytes;
    bool inside = false;  // the last text goes on
    for (std::size_t number = 1; !rest.empty(); ++number) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        const std::string_view line = trimmed(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
        if (line.empty()) {
            inside = false;
            continue;
        }
        const std::string_view word = line.substr(0, line.find_first_of(" \t"));
        const std::string_view tag = line.substr(line.find_last_of(" \t") + 1);
        if (word.size() == line.size()) {
            fail(kRunFailure, "%s: line %zu: a word and its tag are expected, there is one column", name.c_str(),
                 number);
        }
        if (!is_label(tag)) {
            fail(kRunFailure, "%s: line %zu: unknown label %s", name.c_str(), number, quoted(tag).c_str());
        }
        if (!inside) {
            file.texts.push_back({{}, {}, {}, number});
        }
        TaggedText& text = file.texts.back();
        text.text += inside ? " " : "";
        text.text += word;
        text.words.push_back(word);
        text.tags.push_back(tag);
        inside = true;
    }
    if (file.texts.empty()) {
        fail(kRunFailure, "%s: no texts", name.c_str());
    }
    file.texts.resize(std::min(file.texts.size(), options.limit), {{}, {}, {}, 0});
    return file;
}

}  // namespace etch::cli
