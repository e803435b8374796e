// SPDX-License-Identifier: Apache-2.0
// Lines of a file that arrives in pieces: those that a plain search for LF finds. An input is one byte that decides the
// pieces, and the file.
#include "fuzz.hpp"
#include "input.hpp"
#include "system_calls.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using etch::fuzz::check;
    etch::fuzz::SystemCalls& calls = etch::fuzz::system_calls;
    etch::fuzz::Input input(data, size);
    const std::uint32_t shortness = input.byte();
    std::string_view bytes = input.rest();
    calls.provide(bytes);
    calls.active = true;
    calls.shortness = shortness;
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
    calls.provide(input.rest());
    check(etch::cli::read_file("-") == input.rest(), "the whole file is its bytes");
    calls.active = false;
    return 0;
}
