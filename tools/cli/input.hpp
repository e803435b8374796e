// SPDX-License-Identifier: Apache-2.0
// Files and standard input, read as bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace etch::cli {

// An open file. A missing file, one without permission and a folder end the program with exit code 2, a read that fails
// midway with 1.
class InputFile {
  public:
    explicit InputFile(std::string_view path);  // "-" is standard input
    ~InputFile();
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;

    // Up to `size` bytes; 0 at the end.
    std::size_t read(char* bytes, std::size_t size);

    // For messages: `standard input` or the quoted path.
    const std::string& name() const { return name_; }
    bool is_terminal() const;
    bool is_regular() const { return regular_; }

  private:
    int descriptor_ = 0;
    bool regular_ = false;
    std::string name_ = "standard input";
};

inline constexpr std::size_t kMostLineBytes = 16 << 20;
inline constexpr std::size_t kMostFileBytes = 256 << 20;  // where the whole file is read at once

// Lines of a file, in memory that holds the longest line. A longer one than kMostLineBytes, and a file in UTF-16, end
// the program with exit code 1. A line ends at LF, which is not part of it; a CR before it is: to the tokenizer it is
// white space, and offsets stay those of the file. A last line without LF counts. A UTF-8 byte order mark at the start
// is skipped.
class LineReader {
  public:
    explicit LineReader(InputFile& file) : file_(file) {}

    // False at the end. `line` is valid until a call that reads: one that has_line() foretold leaves earlier lines
    // where they are. Before it waits for a terminal or a pipe, everything written to stdout so far is handed on, so
    // that a dialogue over pipes works.
    bool next(std::string_view& line);

    // Whether the next line can be had without reading.
    bool has_line() const { return buffer_.find('\n', begin_) != std::string::npos; }

    // Of the line that next() gave last, from 1.
    std::size_t line_number() const { return line_number_; }

  private:
    bool fill();

    InputFile& file_;
    std::string buffer_;
    std::size_t begin_ = 0;  // of the next line in buffer_
    std::size_t line_number_ = 0;
    bool ended_ = false;
};

// The whole of a file, without a UTF-8 byte order mark at its start. More than kMostFileBytes, and UTF-16, end the
// program with exit code 1.
std::string read_file(std::string_view path);

}  // namespace etch::cli
