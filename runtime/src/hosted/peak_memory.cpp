// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "etch/hosted.hpp"
#include "status_text.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

std::size_t peak_memory_bytes() noexcept {
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    char bytes[4096];  // the whole file is about 1.5 KB, VmHWM in its first half
    std::size_t used = 0;
    ssize_t count = 0;
    while (used < sizeof bytes && (count = read(file, bytes + used, sizeof bytes - used)) > 0)
        used += static_cast<std::size_t>(count);
    close(file);
    return kilobytes_of(std::string_view(bytes, used), "\nVmHWM:") * 1024;
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
