// SPDX-License-Identifier: Apache-2.0
#include "etch/hosted.hpp"

#if defined(__linux__)
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <string_view>

#include "posix/small_file.hpp"
#endif

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {

#if defined(__linux__)

// Of the linker: the ELF header of what it links.
extern "C" __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

namespace {

constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;  // where others have kPage bytes
constexpr long kPage = 4096;

struct Constants {
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
};

// The addresses of the largest read-only segment of the program or shared library that this is in.
Constants own_constants() noexcept {
    const auto begin = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
    const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(begin + __ehdr_start.e_phoff);
    Constants largest;
    std::uintptr_t moved_by = 0;  // from the addresses in the file: its header is where it begins
    for (std::size_t i = 0; i < __ehdr_start.e_phnum; ++i) {
        const auto& segment = segments[i];
        if (segment.p_type != PT_LOAD) continue;
        if (segment.p_offset == 0) moved_by = begin - segment.p_vaddr;
        const std::uintptr_t first = moved_by + segment.p_vaddr;
        if (segment.p_flags == PF_R && segment.p_memsz > largest.last - largest.first)
            largest = {first, first + segment.p_memsz};
    }
    return largest;
}

// Whether the system has pages of other sizes, or was told not to give huge ones. A kernel without them refuses
// madvise().
bool forbidden() noexcept {
    if (sysconf(_SC_PAGESIZE) != kPage) return true;
    char bytes[64];
    return read_small_file("/sys/kernel/mm/transparent_hugepage/enabled", bytes, sizeof bytes).find("[never]") !=
           std::string_view::npos;
}

// The kHugePage bytes at `place`, which is a multiple of it, on a huge page of their own. A copy takes their place when
// it is complete; false: they are where they were.
bool move(std::uintptr_t place) noexcept {
    void* const room = mmap(nullptr, 2 * kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED) return false;
    const auto begin = reinterpret_cast<std::uintptr_t>(room);
    const std::uintptr_t before = (kHugePage - begin % kHugePage) % kHugePage;
    char* const copy = static_cast<char*>(room) + before;
    bool moved = madvise(copy, kHugePage, MADV_HUGEPAGE) == 0;
    if (moved) {
        void* const there = reinterpret_cast<void*>(place);
        std::memcpy(copy, there, kHugePage);
        moved = mprotect(copy, kHugePage, PROT_READ) == 0 &&
                mremap(copy, kHugePage, kHugePage, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there;
    }
    // Another thread may have mapped something where the copy was: only what is around it. Of 0 bytes nothing is.
    munmap(room, before);
    munmap(copy + kHugePage, kHugePage - before);
    if (!moved) munmap(copy, kHugePage);
    return moved;
}

}  // namespace

std::size_t use_huge_pages() noexcept {
    if (forbidden()) return 0;
    const Constants constants = own_constants();
    std::size_t bytes = 0;
    // One at a time: no more than one is there twice.
    const std::uintptr_t first = (constants.first + kHugePage - 1) / kHugePage * kHugePage;
    for (std::uintptr_t place = first; place + kHugePage <= constants.last && move(place); place += kHugePage)
        bytes += kHugePage;
    return bytes;
}

#else

std::size_t use_huge_pages() noexcept {
    return 0;
}

#endif

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
