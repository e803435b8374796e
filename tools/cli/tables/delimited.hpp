// SPDX-License-Identifier: Apache-2.0
// Rows of csv and tsv files. A pure reader: it reports what is wrong with the bytes and leaves it to the caller to
// stop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace etch::cli {

enum class Delimited : std::uint8_t {
    csv,  // RFC 4180: fields between quotes may hold commas, line ends and, doubled, quotes
    tsv,  // no quoting: every byte but TAB, LF and the CR of a CRLF is the field's
};

inline constexpr std::size_t kMostColumns = 1000;

struct Row {
    std::size_t line = 0;  // where it begins, from 1
    std::vector<std::string> fields;
};

// Rows end at LF or CRLF; a last row without one counts, empty lines are skipped. NULs are bytes like others. A quote
// inside a field that does not begin with one is an ordinary byte.
class DelimitedReader {
  public:
    // `bytes` is not copied.
    DelimitedReader(std::string_view bytes, Delimited kind);

    enum class Next : std::uint8_t { row, end, malformed };

    // After `malformed`, line() and problem() say where and why, and reading ends.
    Next next(Row& row);

    std::size_t line() const { return line_; }
    const char* problem() const { return problem_; }

  private:
    bool read_quoted(std::string& field);
    void read_bare(std::string& field);
    std::size_t line_end_length() const;  // of the line end at position_, 0 where there is none

    std::string_view bytes_;
    char separator_;
    bool quotes_;
    std::size_t position_ = 0;
    std::size_t line_ = 1;
    const char* problem_ = nullptr;
};

}  // namespace etch::cli
