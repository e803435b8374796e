// SPDX-License-Identifier: Apache-2.0
// Rows of a .jsonl file: an object a line, all with the same names, of strings and numbers. codegen/files/json_rows.py
// reads the same.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "../text/json_value.hpp"
#include "delimited.hpp"

namespace etch::cli {

class JsonRows {
  public:
    // `bytes` is not copied.
    explicit JsonRows(std::string_view bytes);

    // The first row holds the names of the first object, each further one the values of an object in their order. A
    // number is the characters that stand for it, an array of strings or numbers its elements with `;` between. Empty
    // lines are no rows. After `malformed`, line() and problem() say where and why, and reading ends.
    DelimitedReader::Next next(Row& row);

    std::size_t line() const { return line_; }
    const char* problem() const { return problem_.c_str(); }

  private:
    bool find_line(std::string_view& text);
    bool read_object(std::string_view text);
    bool order(Row& row);
    bool refuse(const std::string& problem);

    std::string_view rest_;  // of the file
    std::size_t line_ = 0;
    JsonValue object_;  // of the line; its lists are texts already
    std::vector<std::string> names_;
    bool named_ = false;  // the row of names is handed out
    std::string problem_;
};

}  // namespace etch::cli
