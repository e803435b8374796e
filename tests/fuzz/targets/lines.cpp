// SPDX-License-Identifier: Apache-2.0
// Lines of a file that arrives in pieces: those that a plain search for LF finds, but of a file that cannot be UTF-8
// text, and of a byte order mark at its start. An input is one byte that decides the pieces, and the file.
#include "cli_failure.hpp"
#include "fuzz.hpp"
#include "input.hpp"
#include "system_calls.hpp"

namespace {

using etch::fuzz::check;

// What was refused must be a file with a zero byte or the mark of UTF-16.
void check_refusal(const etch::fuzz::Failure& failure, std::string_view file) {
    check(failure.message.find("UTF-16") != std::string::npos, "what is refused is another encoding");
    const std::string_view mark = file.substr(0, 2);
    check(file.find('\0') != std::string_view::npos || mark == "\xFF\xFE" || mark == "\xFE\xFF",
          "text without zeros and marks is read");
}

// Without a byte order mark at the start.
std::string_view text_of(std::string_view file) {
    return file.substr(0, 3) == "\xEF\xBB\xBF" ? file.substr(3) : file;
}

void check_lines(std::string_view bytes) {
    etch::cli::InputFile file("-");
    etch::cli::LineReader lines(file);
    std::size_t count = 0;
    std::string_view line;
    while (lines.next(line)) {
        check(!bytes.empty(), "no line behind the last byte");
        const std::size_t end = bytes.find('\n');
        check(line == bytes.substr(0, end), "a line is what lies before its LF");
        bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
        check(lines.line_number() == ++count, "lines are counted from 1");
    }
    check(bytes.empty(), "no byte is left");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::SystemCalls& calls = etch::fuzz::system_calls;
    etch::fuzz::Input input(data, size);
    const std::uint32_t shortness = input.byte();
    const std::string_view bytes = input.rest();
    calls.active = true;
    calls.shortness = shortness;
    calls.provide(bytes);
    try {
        check_lines(text_of(bytes));
    } catch (const etch::fuzz::Failure& failure) {
        check_refusal(failure, bytes);
    }
    calls.provide(bytes);
    try {
        check(etch::cli::read_file("-") == text_of(bytes), "the whole file is its bytes");
    } catch (const etch::fuzz::Failure& failure) {
        check_refusal(failure, bytes);
    }
    calls.active = false;
    return 0;
}
