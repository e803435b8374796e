// SPDX-License-Identifier: Apache-2.0
// Two texts that are one input.
#pragma once

#include <string_view>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct TextPair {
    std::string_view first;
    std::string_view second;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
