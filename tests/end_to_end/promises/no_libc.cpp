// SPDX-License-Identifier: Apache-2.0
// A whole program without a C library, a C++ library or start files: nothing like an allocator could even be linked.
// Exit code 0: every text was classified and the self test passed; else the status that a call reported.
#include "no_libc.hpp"

#include <agnews.hpp>

#include "texts.hpp"

namespace {

etch::agnews::Workspace workspace;

}  // namespace

int run() {
    using namespace etch;
    using namespace std::string_view_literals;  // their lengths are known: no strlen
    agnews::Result result;
    for (std::size_t i = 0; !agnews::usable_kernel(i).empty(); ++i) {
        Status status = agnews::select_kernel(workspace, agnews::usable_kernel(i));
        for (const std::string_view text : promises::kShortTexts) {
            if (status == Status::ok) status = agnews::classify(workspace, text, result);
        }
        if (status == Status::ok) status = agnews::classify(workspace, promises::kMiddleText, result);
        if (status == Status::ok && i == 0) status = agnews::self_test(workspace);
        if (status != Status::ok) return static_cast<int>(status);
        print(agnews::kernel(workspace));
        print(" "sv);
        print(agnews::kLabels[result.label]);
        print("\n"sv);
    }
    return 0;
}
