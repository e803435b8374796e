// SPDX-License-Identifier: Apache-2.0
// Lines of a model that has no batch of texts.
#pragma once

#include <cstddef>
#include <string_view>

#include "model.hpp"

namespace etch::cli {

// One text after the other, by the task's `answer`; ends at the first that fails.
template <class Workspace, class Result>
Status one_by_one(Status (*answer)(Workspace&, const Text&, Result&), Workspace& workspace,
                  const std::string_view* texts, std::size_t count, Result* results) {
    for (std::size_t i = 0; i < count; ++i) {
        const Status status = answer(workspace, {texts[i], {}, false}, results[i]);
        if (status != Status::ok) {
            return status;
        }
    }
    return Status::ok;
}

}  // namespace etch::cli
