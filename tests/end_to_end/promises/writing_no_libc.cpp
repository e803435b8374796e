// SPDX-License-Identifier: Apache-2.0
// As no_libc.cpp, of a generative model: each kernel's name and what it wrote last.
#include "no_libc.hpp"

#include ETCH_MODEL_HEADER

#include "texts.hpp"

namespace {

namespace model = etch::ETCH_MODEL;

model::Workspace workspace;
char target[1 << 16];

}  // namespace

int run() {
    using etch::Status;
    using namespace std::string_view_literals;  // their lengths are known: no strlen
    model::Result result;
    for (std::size_t i = 0; !model::usable_kernel(i).empty(); ++i) {
        Status status = model::select_kernel(workspace, model::usable_kernel(i));
        for (const std::string_view text : promises::kShortTexts) {
            if (status == Status::ok) status = model::ETCH_TASK()(workspace, text, target, sizeof target, result);
        }
        if (status == Status::ok) {
            status = model::ETCH_TASK()(workspace, promises::kMiddleText, target, sizeof target, result);
        }
        if (status == Status::ok && i == 0) status = model::self_test(workspace);
        if (status != Status::ok) return static_cast<int>(status);
        print(model::kernel(workspace));
        print(" "sv);
        print({target, result.bytes});
        print("\n"sv);
    }
    return 0;
}
