// SPDX-License-Identifier: Apache-2.0
// How much stack a function takes: it runs on one of its own that was painted before. For the one source of a program.
#pragma once

#include <ucontext.h>

#include <cstdint>
#include <cstring>

namespace painted {

constexpr std::uint8_t kPaint = 0xA5;
alignas(64) std::uint8_t stack[256 << 10];
ucontext_t back;
ucontext_t there;
void (*function)();
std::uint8_t* entry;

// Everything it touches is static, so that its own frame is next to nothing.
__attribute__((noinline)) void call() {
    entry = static_cast<std::uint8_t*>(__builtin_frame_address(0));
    function();
}

// Bytes below the frame of the caller.
std::size_t measure(void (*what)()) {
    function = what;
    std::memset(stack, kPaint, sizeof stack);
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &back;
    makecontext(&there, call, 0);
    swapcontext(&back, &there);
    const std::uint8_t* deepest = stack;
    while (*deepest == kPaint)
        ++deepest;
    return static_cast<std::size_t>(entry - deepest);
}

}  // namespace painted
