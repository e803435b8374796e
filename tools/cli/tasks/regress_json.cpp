// SPDX-License-Identifier: Apache-2.0
#include "../answers.hpp"

namespace etch::cli {

void append_values(std::string& out, const Options&, const Text&, const Answer& answer) {
    append_floats(out, "values", answer, answer.values);
}

}  // namespace etch::cli
