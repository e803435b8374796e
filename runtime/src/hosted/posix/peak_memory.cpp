// SPDX-License-Identifier: Apache-2.0
#include "etch/hosted.hpp"
#include "small_file.hpp"
#include "status_text.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

std::size_t peak_memory_bytes() noexcept {
    char bytes[4096];  // the whole file is about 1.5 KB, VmHWM in its first half
    return kilobytes_of(read_small_file("/proc/self/status", bytes, sizeof bytes), "\nVmHWM:") * 1024;
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
