// SPDX-License-Identifier: Apache-2.0
// libetch_hosted.a: what a program under an operating system may want from it. The runtime and the generated models
// never call these; boards do without. No allocation, no exceptions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/hosted/thread_pool.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

// The value of ETCH_KERNEL, for select_kernel(); empty where it is unset or empty. Valid until the environment changes.
std::string_view kernel_from_environment() noexcept;

// The most memory this process has had resident so far (VmHWM of /proc/self/status, on Windows the peak of the
// working set); 0 where the system does not say.
std::size_t peak_memory_bytes() noexcept;

// Puts the constants of the program, or of the shared library, that this function is linked into on huge pages: a
// processor finds them with 1 / 512 of the entries that pages of 4 KB take, which counts where a model's tables exceed
// its caches. They keep their addresses and values. What was shared with other processes, and could be read from the
// file again, is memory of this one from then on; copying it takes some 0.2 ms a MB. Call it before other threads read
// the constants. Returns their bytes: whole huge pages, of 2 MB; 0 where there is not one, or the system gives none.
std::size_t use_huge_pages() noexcept;

// A clock that never goes back; only differences mean something.
std::uint64_t monotonic_nanoseconds() noexcept;

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
