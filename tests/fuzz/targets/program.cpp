// SPDX-License-Identifier: Apache-2.0
// A whole program on a stub model: arguments, texts, tables, output. It ends with 0, or says why not. An input is
//     arguments with a NUL after each, FF FF, the content of the files in.txt, in.csv, in.tsv and of standard input
#include <string>
#include <vector>

#include "cli_failure.hpp"
#include "fuzz.hpp"
#include "model.hpp"
#include "strict_json.hpp"
#include "system_calls.hpp"

int etch_main(int argc, char** argv);  // tools/cli/main.cpp

namespace {

using etch::fuzz::check;

// What is written to `stream` while this lives. The program sees a stream like any other.
class Captured {
  public:
    explicit Captured(FILE*& stream) : stream_(stream), before_(stream) {
        stream_ = open_memstream(&bytes_, &size_);
        if (stream_ == nullptr) {
            std::abort();
        }
    }
    ~Captured() {
        close();
        std::free(bytes_);
    }
    Captured(const Captured&) = delete;
    Captured& operator=(const Captured&) = delete;

    std::string_view text() {
        close();
        return {bytes_, size_};
    }

  private:
    void close() {
        if (stream_ != before_) {
            std::fclose(stream_);
            stream_ = before_;
        }
    }

    FILE*& stream_;
    FILE* before_;
    char* bytes_ = nullptr;
    std::size_t size_ = 0;
};

void check_output(std::string_view output) {
    check(output.empty() || output.back() == '\n', "output ends with a line end");
    while (!output.empty()) {
        const std::string_view line = output.substr(0, output.find('\n'));
        check(line.empty() || line[0] != '{' || etch::fuzz::StrictJson::is_valid(line), "JSON is JSON");
        output.remove_prefix(line.size() + 1);
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    std::vector<std::string> arguments = {"program"};
    std::string_view words = input.until(etch::fuzz::kBetweenTexts);
    while (!words.empty()) {
        arguments.emplace_back(words.substr(0, words.find('\0')));
        words.remove_prefix(std::min(words.size(), arguments.back().size() + 1));
        if (arguments.back() == "--latency") {
            return 0;  // takes seconds by design
        }
    }
    std::vector<char*> argv;
    for (std::string& argument : arguments) {
        argv.push_back(argument.data());
    }
    argv.push_back(nullptr);

    etch::fuzz::SystemCalls& calls = etch::fuzz::system_calls;
    calls.provide(input.rest());
    calls.known = " in.txt in.csv in.tsv ";
    calls.shortness = 0;
    etch::cli::set_special_tokens(etch::SpecialTokens::recognized);  // --plain-text of the input before
    int exit_code = 0;
    std::string message;
    std::string printed;
    {
        const Captured errors(stderr);
        Captured output(stdout);
        calls.active = true;
        try {
            exit_code = etch_main(static_cast<int>(arguments.size()), argv.data());
        } catch (const etch::fuzz::Failure& failure) {
            exit_code = failure.exit_code;
            message = failure.message;
        }
        calls.active = false;
        printed = output.text();
    }
    check_output(printed);
    check(exit_code >= 0 && exit_code <= 2, "the exit code is 0, 1 or 2");
    check((exit_code == 0) == message.empty(), "a failure says why");
    check(message.find('\n') == std::string::npos, "and says it on one line");
    return 0;
}
