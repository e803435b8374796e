// SPDX-License-Identifier: Apache-2.0
// From reset to main(), the vector table, and what happens at a fault.
#include "board.hpp"
#include "clock.hpp"
#include "config.hpp"
#include "registers.hpp"

int main();

// Places that the linker script knows.
extern "C" {
extern std::uint32_t stack_begin[];
extern std::uint32_t stack_end[];
extern std::uint32_t data_begin[];
extern std::uint32_t data_end[];
extern const std::uint32_t data_in_flash[];
extern std::uint32_t bss_begin[];
extern std::uint32_t bss_end[];
extern std::uint32_t fast_begin[];
extern std::uint32_t fast_end[];
extern std::uint32_t slow_begin[];
extern std::uint32_t slow_end[];
}

namespace board {
namespace {

constexpr std::uint32_t kPaint = 0xA5A5A5A5u;
constexpr int kFaultExit = 70;
constexpr std::uint32_t kStackOverflow = 1u << 20;  // of the configurable fault status, where there is a stack limit

// At the bottom of RAM, where the linker script puts it, so that too deep a call faults instead of writing over other
// variables. Painted when the program starts.
__attribute__((section(".bss.stack"), used)) std::uint64_t stack[BOARD_STACK_BYTES / sizeof(std::uint64_t)];

std::size_t bytes_between(const std::uint32_t* begin, const std::uint32_t* end) {
    return reinterpret_cast<std::uintptr_t>(end) - reinterpret_cast<std::uintptr_t>(begin);
}

void send(std::string_view text) {
    for (const char byte : text) {
        board::send(byte);
    }
}

void send_hex(std::uint32_t value) {
    for (int shift = 28; shift >= 0; shift -= 4) {
        board::send("0123456789ABCDEF"[(value >> shift) & 15]);
    }
}

}  // namespace

// Everything after the first instructions: from here on floating point may be used.
extern "C" [[noreturn]] __attribute__((noinline, used)) void start() {
    // The stack above this function's own frame is in use.
    std::uint32_t* in_use = static_cast<std::uint32_t*>(__builtin_frame_address(0)) - 16;
    for (std::uint32_t* word = stack_begin; word < in_use; ++word) {
        *word = kPaint;
    }
    const std::uint32_t* from = data_in_flash;
    for (std::uint32_t* word = data_begin; word < data_end; ++word) {
        *word = *from++;
    }
    for (std::uint32_t* word = bss_begin; word < bss_end; ++word) {
        *word = 0;
    }
#if FIRMWARE_REGIONS
    for (std::uint32_t* word = slow_begin; word < slow_end; ++word) {
        *word = 0;
    }
#endif
    config::kUart.start();
    finish(main());
}

// What the processor has pushed when a handler begins.
struct Frame {
    std::uint32_t r0, r1, r2, r3, r12, lr, pc, psr;
};

// Says where and why on the UART, and ends. A product would write this down and reset instead.
extern "C" [[noreturn]] __attribute__((used)) void report_fault(const Frame* frame, std::uint32_t exception) {
    send("fault: exception ");
    send_hex(exception);
    // A stack that ran over has no frame on it.
    const bool below = reinterpret_cast<std::uintptr_t>(frame) < reinterpret_cast<std::uintptr_t>(stack_begin);
    if (below || (configurable_fault_status() & kStackOverflow) != 0) {
        send(", stack overflow");
    } else {
        send(", at ");
        send_hex(frame->pc);
        send(", called from ");
        send_hex(frame->lr);
    }
    send(", status ");
    send_hex(configurable_fault_status());
    send(" ");
    send_hex(hard_fault_status());
    send("\n");
    finish(kFaultExit);
}

namespace {

// No prologue: the stack may be what is broken, so report_fault() gets a whole one.
__attribute__((naked)) void fault_handler() {
    asm volatile(
        "mov r0, sp\n"
#if __ARM_ARCH >= 8
        "movs r1, #0\n"
        "msr msplim, r1\n"
#endif
        "mrs r1, ipsr\n"
        "ldr r2, =stack_end\n"
        "mov sp, r2\n"
        "b report_fault\n"
        ".ltorg\n");
}

}  // namespace

// The first instructions: nothing that a compiler might do in floating-point or vector registers before those are on.
extern "C" __attribute__((naked)) void reset_handler() {
    asm volatile(
#if __ARM_ARCH >= 8
        "ldr r0, =stack_begin\n"
        "msr msplim, r0\n"
#endif
#if defined(__ARM_FP)
        "ldr r0, =0xE000ED88\n"  // coprocessor access: floating point and Helium
        "ldr r1, [r0]\n"
        "orr r1, r1, #0xF00000\n"
        "str r1, [r0]\n"
        "dsb\n"
        "isb\n"
#endif
        "b start\n"
        ".ltorg\n");
}

namespace {

using Handler = void (*)();

struct Vectors {
    const std::uint32_t* stack;
    Handler handlers[15];  // of exceptions 1 to 15; no interrupt of a peripheral is used
};

__attribute__((section(".vectors"), used)) const Vectors vectors = {
    stack_end,
    {
        reset_handler,
        fault_handler,  // NMI
        fault_handler,  // HardFault
        fault_handler,  // MemManage
        fault_handler,  // BusFault
        fault_handler,  // UsageFault
        fault_handler,  // SecureFault
        nullptr,
        nullptr,
        nullptr,
        fault_handler,  // SVCall
        fault_handler,  // DebugMonitor
        nullptr,
        fault_handler,  // PendSV
        systick_handler,
    },
};

}  // namespace

Memory memory() {
    const std::uint32_t* deepest = stack_begin;
    while (deepest < stack_end && *deepest == kPaint) {
        ++deepest;
    }
    const std::size_t regions = bytes_between(fast_begin, fast_end) + bytes_between(slow_begin, slow_end);
    return {bytes_between(data_begin, data_end) + bytes_between(bss_begin, bss_end) + regions,
            bytes_between(stack_begin, stack_end), bytes_between(deepest, stack_end)};
}

}  // namespace board
