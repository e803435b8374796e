// SPDX-License-Identifier: Apache-2.0
// The faces of tasks that write texts.
#pragma once

#include "../task_face.hpp"

namespace etch::cli {

extern const TaskFace kWriteFace;     // a text for a text
extern const TaskFace kGenerateFace;  // what goes on with a text, or with a conversation

}  // namespace etch::cli
