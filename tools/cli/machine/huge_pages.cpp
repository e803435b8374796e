// SPDX-License-Identifier: Apache-2.0
#include "huge_pages.hpp"

#include <cstdio>
#include <string>

#include "../model.hpp"
#include "etch/hosted.hpp"

namespace etch::cli {

void use_huge_pages() {
    if (hosted::use_huge_pages() == 0) {
        std::fprintf(stderr, "%s: no huge pages: the tables fill none, or this system gives none\n",
                     std::string(kModel.program).c_str());
    }
}

}  // namespace etch::cli
