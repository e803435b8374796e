// SPDX-License-Identifier: Apache-2.0
// allocation COUNT [--allocate]
//
// Classifies COUNT texts while the trap of allocation_trap.hpp is armed. With --allocate it allocates once itself: the
// trap must close.
#include <agnews.hpp>

#include "allocation_trap.hpp"
#include "texts.hpp"

static etch::agnews::Workspace workspace;

int main(int argc, char** argv) {
    using namespace etch;
    if (argc < 2) return 2;
    const long count = std::strtol(argv[1], nullptr, 10);
    agnews::Result result;
    static agnews::Encoding encoding;
    constexpr long kTexts = sizeof promises::kShortTexts / sizeof promises::kShortTexts[0];

    armed = true;
    Status status = Status::ok;
    if (argc > 2 && std::string_view(argv[2]) == "--allocate") {
        int* volatile leaked = new int;
        static_cast<void>(leaked);
    }
    for (long i = 0; i < count && status == Status::ok; ++i) {
        status = agnews::classify(workspace, promises::kShortTexts[i % kTexts], result);
    }
    if (status == Status::ok) status = agnews::classify(workspace, promises::kLongText.view(), result);
    if (status == Status::ok) status = agnews::classify_pair(workspace, "one", promises::kLongText.view(), result);
    if (status == Status::ok) status = agnews::encode(workspace, promises::kLongText.view(), encoding);
    if (status == Status::ok) status = agnews::classify_tokens(workspace, encoding.ids, nullptr, 9, result);
    if (status == Status::ok) status = agnews::begin(workspace, promises::kMiddleText);
    if (status == Status::ok) status = Status::in_progress;
    while (status == Status::in_progress)
        status = agnews::step(workspace, 100'000, result);
    if (status == Status::ok) status = agnews::self_test(workspace);
    armed = false;
    return status == Status::ok ? 0 : 1;
}
