// SPDX-License-Identifier: Apache-2.0
// What a program needs that has no C library, C++ library or start files: what the compiler itself calls (memcpy,
// memmove, memset, memcmp), an entry that calls run(), a way to print. Linux on x86-64 and AArch64. For the one source
// of a program.
#pragma once

#include <cstddef>
#include <string_view>

// Defined by the program; its exit code.
int run();

extern "C" {
// Bytes of these loops must not become calls of the functions themselves: CMakeLists.txt forbids it.
void* memcpy(void* to, const void* from, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
    return to;
}
void* memmove(void* to, const void* from, std::size_t n) {
    if (to <= from) return memcpy(to, from, n);
    for (std::size_t i = n; i > 0; --i)
        static_cast<char*>(to)[i - 1] = static_cast<const char*>(from)[i - 1];
    return to;
}
void* memset(void* to, int value, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
        static_cast<unsigned char*>(to)[i] = static_cast<unsigned char>(value);
    return to;
}
int memcmp(const void* a, const void* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const int difference = static_cast<const unsigned char*>(a)[i] - static_cast<const unsigned char*>(b)[i];
        if (difference != 0) return difference;
    }
    return 0;
}
}

namespace {

long system_call(long number, long a, const void* b, std::size_t c) {
#if defined(__x86_64__)
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long x8 asm("x8") = number;
    register long x0 asm("x0") = a;
    register const void* x1 asm("x1") = b;
    register std::size_t x2 asm("x2") = c;
    asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
#endif
}

#if defined(__x86_64__)
constexpr long kWrite = 1;
constexpr long kExit = 60;
#elif defined(__aarch64__)
constexpr long kWrite = 64;
constexpr long kExit = 93;
#endif

void print(std::string_view text) {
    system_call(kWrite, 1, text.data(), text.size());
}

}  // namespace

extern "C" [[noreturn]] void begin() {
    system_call(kExit, run(), nullptr, 0);
    for (;;) {
    }
}

// The kernel starts here with an aligned stack; a call misaligns it as every function expects.
#if defined(__x86_64__)
asm(".globl _start\n_start:\n xor %ebp, %ebp\n call begin\n");
#elif defined(__aarch64__)
asm(".globl _start\n_start:\n bl begin\n");
#endif
