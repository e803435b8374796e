// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// What a model answers with: one label of several (softmax), labels that hold independently of each other (sigmoid),
// values, or a vector.
enum class Task : std::uint8_t { single_label, multi_label, regression, embedding };

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
