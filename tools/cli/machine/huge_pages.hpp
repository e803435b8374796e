// SPDX-License-Identifier: Apache-2.0
// --huge-pages: where the model's tables lie.
#pragma once

namespace etch::cli {

// Puts them on huge pages, as far as they fill such; says so where none can be had, and goes on.
void use_huge_pages();

}  // namespace etch::cli
