// SPDX-License-Identifier: Apache-2.0
// What compiled code may call without being asked to: memcpy, memmove, memset, memcmp, strlen. With these the firmware
// needs no C library. CMakeLists.txt forbids the compiler to turn the loops into calls of the functions themselves.
#include <cstddef>
#include <cstdint>

namespace {

// Words that may hold anything and lie anywhere that their type allows.
using Word __attribute__((may_alias)) = std::uint32_t;

bool aligned(const void* a, const void* b) {
    return ((reinterpret_cast<std::uintptr_t>(a) | reinterpret_cast<std::uintptr_t>(b)) & (sizeof(Word) - 1)) == 0;
}

}  // namespace

extern "C" {

void* memcpy(void* to, const void* from, std::size_t n) {
    std::size_t i = 0;
    if (aligned(to, from)) {
        for (; i + sizeof(Word) <= n; i += sizeof(Word)) {
            *reinterpret_cast<Word*>(static_cast<char*>(to) + i) =
                *reinterpret_cast<const Word*>(static_cast<const char*>(from) + i);
        }
    }
    for (; i < n; ++i) {
        static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
    }
    return to;
}

void* memmove(void* to, const void* from, std::size_t n) {
    if (reinterpret_cast<std::uintptr_t>(to) <= reinterpret_cast<std::uintptr_t>(from)) return memcpy(to, from, n);
    for (std::size_t i = n; i > 0; --i) {
        static_cast<char*>(to)[i - 1] = static_cast<const char*>(from)[i - 1];
    }
    return to;
}

void* memset(void* to, int value, std::size_t n) {
    const auto byte = static_cast<unsigned char>(value);
    std::size_t i = 0;
    if (aligned(to, to)) {
        for (; i + sizeof(Word) <= n; i += sizeof(Word)) {
            *reinterpret_cast<Word*>(static_cast<char*>(to) + i) = Word{byte} * 0x01010101u;
        }
    }
    for (; i < n; ++i) {
        static_cast<unsigned char*>(to)[i] = byte;
    }
    return to;
}

int memcmp(const void* a, const void* b, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
        const int difference = static_cast<const unsigned char*>(a)[i] - static_cast<const unsigned char*>(b)[i];
        if (difference != 0) return difference;
    }
    return 0;
}

std::size_t strlen(const char* text) {
    std::size_t length = 0;
    while (text[length] != '\0') {
        ++length;
    }
    return length;
}
}
