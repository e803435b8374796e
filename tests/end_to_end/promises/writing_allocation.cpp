// SPDX-License-Identifier: Apache-2.0
// writing_allocation [--allocate]
//
// Writes texts while the trap of allocation_trap.hpp is armed, by each function of the model. With --allocate it
// allocates once itself: the trap must close.
#include ETCH_MODEL_HEADER

#include <iterator>

#include "allocation_trap.hpp"
#include "texts.hpp"

namespace {

namespace model = etch::ETCH_MODEL;
using etch::Status;

model::Workspace workspace;
model::Encoding encoding;
model::Result result;
char target[1 << 16];
std::int32_t ids[model::kMaxTarget];

Status in_steps() {
    Status status = Status::in_progress;
    while (status == Status::in_progress)
        status = model::step(workspace, 1000, target, sizeof target, result);
    return status;
}

Status together() {
    constexpr std::size_t kRoom = 256;
    static model::Result results[model::kBeams];
    const std::size_t count = std::size(promises::kShortTexts);
    std::uint32_t taken = 0;
    Status status = Status::ok;
    for (std::size_t first = 0; first < count && status == Status::ok; first += taken) {
        status = model::begin_batch(workspace, promises::kShortTexts, count, first, taken);
        if (status == Status::ok) status = Status::in_progress;
        while (status == Status::in_progress)
            status = model::step_batch(workspace, 1000, target, kRoom, results);
    }
    return status;
}

Status write_all() {
    Status status = Status::ok;
    for (std::size_t kernel = 0; !model::usable_kernel(kernel).empty() && status == Status::ok; ++kernel) {
        status = model::select_kernel(workspace, model::usable_kernel(kernel));
        for (const std::string_view text : promises::kShortTexts) {
            if (status == Status::ok) status = model::ETCH_TASK()(workspace, text, target, sizeof target, result);
        }
    }
    const std::string_view text = promises::kLongText.view();
    if (status == Status::ok) status = model::ETCH_TASK()(workspace, text, target, sizeof target, result);
    if (status == Status::ok) status = model::encode(workspace, text, encoding);
    if (status == Status::ok) {
        status = model::ETCH_TASK(_tokens)(workspace, encoding.ids, encoding.count, ids, model::kMaxTarget, result);
    }
    if (status == Status::ok) status = model::begin(workspace, promises::kMiddleText);
    if (status == Status::ok) status = in_steps();
#if defined(ETCH_MODEL_SEARCHES)
    if (status == Status::ok) status = model::found(workspace, 1, target, sizeof target, result);
#endif
    if (status == Status::ok) status = together();
    workspace.beams = 1;
    if (status == Status::ok) status = together();
    if (status == Status::ok) status = model::self_test(workspace);
    workspace.beams = 0;
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    armed = true;
    if (argc > 1 && std::string_view(argv[1]) == "--allocate") {
        int* volatile leaked = new int;
        static_cast<void>(leaked);
    }
    const Status status = write_all();
    armed = false;
    return status == Status::ok ? 0 : 1;
}
