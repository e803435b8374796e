// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace firmware {

// Length of the longest beginning of `text` that is well-formed UTF-8: all of it, or where it goes wrong.
std::size_t valid_utf8_bytes(std::string_view text);

}  // namespace firmware
