// SPDX-License-Identifier: Apache-2.0
// Bytes of a serial line in, lines of text out. Whatever comes, each line gets exactly one event at its end; the reader
// never holds more than its buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace firmware {

enum class LineEvent : std::uint8_t {
    none,          // the line goes on
    line,          // text() is the line
    empty,         // a line of no bytes
    too_long,      // more bytes than kLineBytes
    invalid_utf8,  // text() is the line, invalid_at() where it is not UTF-8
    overrun,       // the UART lost bytes of this line, perhaps its beginning or end
};

class LineReader {
  public:
    static constexpr std::size_t kLineBytes = 1024;  // without the line end

    // The next byte. LF, CR and CR LF end a line.
    LineEvent take(char byte);

    // The UART says that it lost bytes.
    void lose() { lost_ = true; }

    // Of the last event but none; valid until the next take().
    std::string_view text() const { return {bytes_, stored_}; }
    std::size_t invalid_at() const { return invalid_at_; }

  private:
    LineEvent end_line();

    char bytes_[kLineBytes] = {};
    std::size_t stored_ = 0;    // bytes of the line that are in bytes_
    std::size_t received_ = 0;  // bytes of the line
    std::size_t invalid_at_ = 0;
    bool lost_ = false;
    bool after_return_ = false;  // the last byte was CR: an LF now belongs to it
};

}  // namespace firmware
