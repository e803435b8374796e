// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

// The first `size` bytes of a file, in `bytes`; empty where it cannot be opened.
std::string_view read_small_file(const char* name, char* bytes, std::size_t size) noexcept;

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
