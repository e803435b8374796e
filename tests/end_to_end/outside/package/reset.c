/* SPDX-License-Identifier: Apache-2.0
 * Where the emulated board begins: the FPU on, then newlib's own start. */
void _start(void);

void reset(void) {
    *(volatile unsigned*)0xE000ED88 |= 0xFu << 20; /* CPACR */
    __asm volatile("dsb\n\tisb");
    _start();
}

static void fault(void) {
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static void* const vectors[] = {
    (void*)0x20400000, reset, fault, fault, fault, fault, fault};
