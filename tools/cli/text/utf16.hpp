// SPDX-License-Identifier: Apache-2.0
// Other encodings than UTF-8 told from their bytes, so that they are refused and not answered as text.
#pragma once

#include <string_view>

namespace etch::cli {

// Whether a file that begins so is UTF-16 or UTF-32, by its byte order mark or by where its zeros are: in half of all
// bytes, or all at odd or all at even places, one beside each line feed, and then in every second character at least,
// or in what is no UTF-8. The generator tells by the same rule (codegen/files/outside_files.py).
bool is_utf16(std::string_view begin);

}  // namespace etch::cli
