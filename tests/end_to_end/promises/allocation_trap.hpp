// SPDX-License-Identifier: Apache-2.0
// Every function that could give memory: malloc and its relatives, operator new, mmap, sbrk. While the trap is armed
// each of them ends the program with exit code 3. Defined here, for the one source of a program.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

bool armed = false;

// Before main() the C library may want memory; it gets some of this, and none back.
alignas(16) unsigned char pool[1 << 20];
std::size_t used = 0;

void* give(std::size_t bytes) {
    if (armed) {
        constexpr char kMessage[] = "an allocation during inference\n";
        static_cast<void>(!write(2, kMessage, sizeof kMessage - 1));
        _exit(3);
    }
    const std::size_t begin = used;
    used += (bytes + 15) / 16 * 16;
    return used <= sizeof pool ? pool + begin : nullptr;
}

}  // namespace

extern "C" {
void* malloc(std::size_t bytes) noexcept {
    return give(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) noexcept {
    return give(count * bytes);
}
void* realloc(void* old, std::size_t bytes) noexcept {
    void* fresh = give(bytes);
    if (old != nullptr && fresh != nullptr) std::memmove(fresh, old, bytes);  // reads on into the pool: harmless
    return fresh;
}
void* aligned_alloc(std::size_t, std::size_t bytes) noexcept {
    return give(bytes);
}
int posix_memalign(void** out, std::size_t, std::size_t bytes) noexcept {
    *out = give(bytes);
    return 0;
}
void free(void*) noexcept {
    if (armed) give(0);
}
void* mmap(void*, std::size_t bytes, int, int, int, off_t) noexcept {
    return give(bytes);
}
void* sbrk(std::intptr_t) noexcept {
    return give(0);
}
}

void* operator new(std::size_t bytes) {
    return give(bytes);
}
void* operator new[](std::size_t bytes) {
    return give(bytes);
}
void operator delete(void*) noexcept {
    if (armed) give(0);
}
void operator delete[](void*) noexcept {
    if (armed) give(0);
}
void operator delete(void*, std::size_t) noexcept {
    if (armed) give(0);
}
void operator delete[](void*, std::size_t) noexcept {
    if (armed) give(0);
}
