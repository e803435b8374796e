// SPDX-License-Identifier: Apache-2.0
// The default model and another one, ETCH_OTHER, in one program: their self tests recompute their golden logits in
// turn. ETCH_OTHER_HEADER is its header.
#include <agnews.hpp>
#include <cstdio>

#include ETCH_OTHER_HEADER

namespace {

namespace other = etch::ETCH_OTHER;

etch::agnews::Workspace workspace;
other::Workspace other_workspace;

}  // namespace

int main() {
    using etch::Status;
    for (int round = 0; round < 2; ++round) {
        if (etch::agnews::self_test(workspace) != Status::ok) return 1;
        if (other::self_test(other_workspace) != Status::ok) return 1;
    }
    etch::agnews::Result result;
    other::Result other_result;
    if (etch::agnews::classify(workspace, "The dog ran.", result) != Status::ok) return 1;
    if (other::classify(other_workspace, "The dog ran.", other_result) != Status::ok) return 1;
    std::printf("%u of %u labels, %u of %u labels\n", result.label, etch::agnews::kLabelCount, other_result.label,
                other::kLabelCount);
    return result.label < etch::agnews::kLabelCount && other_result.label < other::kLabelCount ? 0 : 1;
}
