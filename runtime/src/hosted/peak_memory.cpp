// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include "etch/hosted.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {
namespace {

// The number behind `key` in "key:  123 kB" lines; 0 where there is none.
std::size_t kilobytes_of(std::string_view status, std::string_view key) noexcept {
    const std::size_t found = status.find(key);
    if (found == std::string_view::npos) {
        return 0;
    }
    std::size_t value = 0;
    bool digits = false;
    for (const char c : status.substr(found + key.size())) {
        if (c >= '0' && c <= '9') {
            value = value * 10 + static_cast<std::size_t>(c - '0');
            digits = true;
        } else if (digits || (c != ' ' && c != '\t')) {
            break;
        }
    }
    return value;
}

}  // namespace

std::size_t peak_memory_bytes() noexcept {
    const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return 0;
    }
    char bytes[4096];  // the whole file is about 1.5 KB, VmHWM in its first half
    std::size_t used = 0;
    ssize_t count = 0;
    while (used < sizeof bytes && (count = read(file, bytes + used, sizeof bytes - used)) > 0) {
        used += static_cast<std::size_t>(count);
    }
    close(file);
    return kilobytes_of(std::string_view(bytes, used), "\nVmHWM:") * 1024;
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
