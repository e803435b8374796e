// SPDX-License-Identifier: Apache-2.0
// What GCC's counters hold at the end of a program on a board, as text to the UART: `gcda PATH` and the bytes of that
// file in hexadecimal, a line each. There is no C library, so libgcov gives bytes and does not write files.
//
// The program (boards.py) is linked with --wrap for board::finish(), which ends it.
#include <cstddef>
#include <cstdint>

#include "board.hpp"

extern "C" {

struct gcov_info;
void __gcov_info_to_gcda(const gcov_info* info, void (*name)(const char*, void*),
                         void (*write)(const void*, unsigned, void*), void* (*allocate)(unsigned, void*), void*);

// One for each object that counts: the linker makes both symbols of the section's name.
extern const gcov_info* const __start_gcov_info[];
extern const gcov_info* const __stop_gcov_info[];

[[noreturn]] void __real__ZN5board6finishEi(int code);
[[noreturn]] void __wrap__ZN5board6finishEi(int code);
}

namespace {

void send_name(const char* name, void*) {
    for (const char* at = "\ngcda "; *at != '\0'; ++at)
        board::send(*at);
    for (; *name != '\0'; ++name)
        board::send(*name);
    board::send('\n');
}

void send_bytes(const void* bytes, unsigned count, void*) {
    for (unsigned i = 0; i < count; ++i) {
        const unsigned byte = static_cast<const std::uint8_t*>(bytes)[i];
        board::send("0123456789abcdef"[byte >> 4]);
        board::send("0123456789abcdef"[byte & 15]);
    }
}

// Never freed: a few counters of values, of which these programs have none.
void* allocate(unsigned bytes, void*) {
    alignas(8) static std::uint8_t memory[4096];
    static std::size_t used = 0;
    void* const result = memory + used;
    used += (bytes + 7) / 8 * 8;
    return result;
}

}  // namespace

void __wrap__ZN5board6finishEi(int code) {
    for (const gcov_info* const* info = __start_gcov_info; info != __stop_gcov_info; ++info)
        __gcov_info_to_gcda(*info, send_name, send_bytes, allocate, nullptr);
    board::send('\n');
    __real__ZN5board6finishEi(code);
}
