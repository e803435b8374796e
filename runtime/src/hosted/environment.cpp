// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "etch/hosted.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

std::string_view kernel_from_environment() noexcept {
    const char* value = std::getenv("ETCH_KERNEL");
    return value != nullptr ? std::string_view(value) : std::string_view();
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
