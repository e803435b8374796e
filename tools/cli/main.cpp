// SPDX-License-Identifier: Apache-2.0
// The program of one generated model, called by what it does and its name: classify-NAME, fill-mask-NAME.
#include <unistd.h>

#include <new>

#include "arguments.hpp"
#include "commands/commands.hpp"
#include "machine/device.hpp"
#include "machine/huge_pages.hpp"
#include "machine/kernels.hpp"
#include "machine/threads.hpp"
#include "model.hpp"
#include "output.hpp"

namespace {

// Instead of an exception, which nothing here could handle better.
[[noreturn]] void out_of_memory() {
    for (const std::string_view part : {etch::cli::kModel.program, std::string_view(": out of memory\n")}) {
        const ssize_t written = write(STDERR_FILENO, part.data(), static_cast<unsigned>(part.size()));
        static_cast<void>(written);
    }
    _exit(1);
}

bool computes(etch::cli::Mode mode) {
    return mode != etch::cli::Mode::help && mode != etch::cli::Mode::kernel_list;
}

}  // namespace

int main(int argc, char** argv) {
    using namespace etch::cli;
    std::set_new_handler(out_of_memory);
    prepare_output();
    const Options options = parse_arguments(argc, argv);
    if (computes(options.mode) && options.gpu) {
        use_device(options);
    } else if (computes(options.mode)) {
        if (options.huge_pages) {
            use_huge_pages();
        }
        choose_kernel(options.kernel);
        use_threads(options.threads);
    }
    if (options.chat) {
        set_special_tokens(etch::SpecialTokens::in_text);
    }
    if (options.plain_text) {
        set_special_tokens(etch::SpecialTokens::plain_text);
    }
    set_wanted(options.wanted);
    switch (options.mode) {
        case Mode::texts:
            answer_texts(options);
            break;
        case Mode::similarity:
            compare_texts(options);
            break;
        case Mode::evaluate:
            evaluate_table(options);
            break;
        case Mode::latency:
            measure_latency();
            break;
        case Mode::memory:
            report_memory();
            break;
        case Mode::self_test:
            run_self_test();
            break;
        case Mode::kernel_list:
            list_kernels();
            break;
        case Mode::version:
            print_version();
            break;
        case Mode::help:
            print_help();
            break;
    }
    flush_output();
    return 0;
}
