// SPDX-License-Identifier: Apache-2.0
#include "small_file.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

std::string_view read_small_file(const char* name, char* bytes, std::size_t size) noexcept {
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return {};
    std::size_t used = 0;
    ssize_t count = 0;
    while (used < size && (count = read(file, bytes + used, size - used)) > 0)
        used += static_cast<std::size_t>(count);
    close(file);
    return {bytes, used};
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
