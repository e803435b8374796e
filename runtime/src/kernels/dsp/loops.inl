// SPDX-License-Identifier: Apache-2.0
// The loops of quantization for CPUs with floating point, eight values at a time, as ldm and vldm bring them. GCC 12
// loads one value at a time and moves it to where it may be compared. Included inside the namespace of dsp.

using scalar::bits_of;
using scalar::from_bits;

// The largest |x[i]|: of the bits without their sign, which order as the magnitudes do.
ETCH_NOINLINE float largest_magnitude(const float* x, std::uint32_t n) noexcept {
    std::uint32_t largest = 0;
    const float* const end = x + n;
    const float* const whole = x + n / 8 * 8;
    // clang-format off
#define ETCH_DSP_COMPARE(value)         \
    "cmp   %[l], " value ", lsl #1 \n\t" \
    "it    lo                     \n\t" \
    "lsllo %[l], " value ", #1     \n\t"
    if (x != whole) {
        asm volatile(
            "0:                               \n\t"
            "ldmia %[x]!, {r4, r5, r6, r8}    \n\t"
            ETCH_DSP_COMPARE("r4") ETCH_DSP_COMPARE("r5") ETCH_DSP_COMPARE("r6") ETCH_DSP_COMPARE("r8")
            "ldmia %[x]!, {r4, r5, r6, r8}    \n\t"
            ETCH_DSP_COMPARE("r4") ETCH_DSP_COMPARE("r5") ETCH_DSP_COMPARE("r6") ETCH_DSP_COMPARE("r8")
            "cmp   %[x], %[e]                 \n\t"
            "bne   0b                         \n\t"
            : [x] "+r"(x), [l] "+r"(largest)
            : [e] "r"(whole)
            : "r4", "r5", "r6", "r8", "cc", "memory");
    }
#undef ETCH_DSP_COMPARE
    // clang-format on
    for (; x != end; ++x) {
        const std::uint32_t magnitude = bits_of(*x) << 1;
        largest = magnitude > largest ? magnitude : largest;
    }
    return from_bits(largest >> 1);
}

// q[i] = rne(x[i] * factor), which the addition leaves in the lowest byte.
ETCH_NOINLINE void round_row(const float* x, std::uint32_t n, float factor, std::int8_t* q) noexcept {
    const float* const end = x + n;
    const float* const whole = x + n / 8 * 8;
    if (x != whole) {
        // clang-format off
#define ETCH_DSP_ROUND(value)            \
    "vmul.f32 " value ", " value ", %[f] \n\t" \
    "vadd.f32 " value ", " value ", %[s] \n\t"
        asm volatile(
            "0:                          \n\t"
            "vldmia  %[x]!, {s0-s7}      \n\t"
            ETCH_DSP_ROUND("s0") ETCH_DSP_ROUND("s1") ETCH_DSP_ROUND("s2") ETCH_DSP_ROUND("s3")
            ETCH_DSP_ROUND("s4") ETCH_DSP_ROUND("s5") ETCH_DSP_ROUND("s6") ETCH_DSP_ROUND("s7")
            "vmov    r4, r5, s0, s1      \n\t"
            "vmov    r6, r8, s2, s3      \n\t"
            "strb    r4, [%[q]], #8      \n\t"
            "strb    r5, [%[q], #-7]     \n\t"
            "strb    r6, [%[q], #-6]     \n\t"
            "strb    r8, [%[q], #-5]     \n\t"
            "vmov    r4, r5, s4, s5      \n\t"
            "vmov    r6, r8, s6, s7      \n\t"
            "strb    r4, [%[q], #-4]     \n\t"
            "strb    r5, [%[q], #-3]     \n\t"
            "strb    r6, [%[q], #-2]     \n\t"
            "strb    r8, [%[q], #-1]     \n\t"
            "cmp     %[x], %[e]          \n\t"
            "bne     0b                  \n\t"
            : [x] "+r"(x), [q] "+r"(q)
            : [e] "r"(whole), [f] "t"(factor), [s] "t"(polynomials::kShifter)
            : "r4", "r5", "r6", "r8", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "cc", "memory");
#undef ETCH_DSP_ROUND
        // clang-format on
    }
    for (; x != end; ++x)
        *q++ = static_cast<std::int8_t>(bits_of(*x * factor + polynomials::kShifter));
}
