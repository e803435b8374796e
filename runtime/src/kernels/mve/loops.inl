// SPDX-License-Identifier: Apache-2.0
// The inner loops that GCC 12 makes too long: it knows no loop that cuts its last vector by itself (dlstp, letp), and
// computes addresses that an instruction could step. Included inside the namespace of mve. n and count are at least 1.

// The largest |x[i]|.
ETCH_INLINE float largest_magnitude(const float* x, std::uint32_t n) noexcept {
    Floats largest = all(0.0f);
    asm volatile(
        "dlstp.32    lr, %[n]         \n"
        "0:                           \n\t"
        "vldrw.u32   q0, [%[x]], #16  \n\t"
        "vmaxnma.f32 %q[largest], q0  \n\t"
        "letp        lr, 0b           \n\t"
        : [x] "+r"(x), [largest] "+w"(largest)
        : [n] "r"(n)
        : "lr", "q0", "memory");
    return vmaxnmvq_f32(0.0f, largest);
}

// The largest x[i] and `least`.
ETCH_INLINE float largest_value(const float* x, std::uint32_t n, float least) noexcept {
    Floats largest = all(least);
    asm volatile(
        "dlstp.32   lr, %[n]         \n"
        "0:                          \n\t"
        "vldrw.u32  q0, [%[x]], #16  \n\t"
        "vmaxnm.f32 %q[largest], %q[largest], q0 \n\t"
        "letp       lr, 0b           \n\t"
        : [x] "+r"(x), [largest] "+w"(largest)
        : [n] "r"(n)
        : "lr", "q0", "memory");
    return vmaxnmvq_f32(least, largest);
}

// q[i] = rne(x[i] * factor).
ETCH_INLINE void round_row(const float* x, std::uint32_t n, float factor, std::int8_t* q) noexcept {
    asm volatile(
        "dlstp.32      lr, %[n]         \n"
        "0:                             \n\t"
        "vldrw.u32     q0, [%[x]], #16  \n\t"
        "vmul.f32      q0, q0, %[f]     \n\t"
        "vcvtn.s32.f32 q0, q0           \n\t"
        "vstrb.32      q0, [%[q]], #4   \n\t"
        "letp          lr, 0b           \n\t"
        : [x] "+r"(x), [q] "+l"(q)  // stores of bytes have room for low registers only
        : [n] "r"(n), [f] "r"(factor)
        : "lr", "q0", "memory");
}

// x[i] = x[i] * y[i]; the largest of them and +0.0f.
ETCH_INLINE float multiply_and_find_largest(float* x, const float* y, std::uint32_t n) noexcept {
    Floats largest = all(0.0f);
    asm volatile(
        "dlstp.32   lr, %[n]         \n"
        "0:                          \n\t"
        "vldrw.u32  q0, [%[x]]       \n\t"
        "vldrw.u32  q1, [%[y]], #16  \n\t"
        "vmul.f32   q0, q0, q1       \n\t"
        "vmaxnm.f32 %q[largest], %q[largest], q0 \n\t"
        "vstrw.32   q0, [%[x]], #16  \n\t"
        "letp       lr, 0b           \n\t"
        : [x] "+r"(x), [y] "+r"(y), [largest] "+w"(largest)
        : [n] "r"(n)
        : "lr", "q0", "q1", "memory");
    return vmaxnmvq_f32(0.0f, largest);
}

// Two rows of sums, and what they are multiplied by and added to.
struct TwoRows {
    const std::int32_t* sums[2];
    float row_scales[2];
    float* out[2];
    const float* residual[2];
};

// out = (float(sum) * row scale) * scale + bias; then + residual, unless null, or relu. Residual and relu exclude each
// other.
ETCH_INLINE void finish_columns(TwoRows rows, const float* scales, const float* bias, std::uint32_t count,
                                bool with_residual, bool with_relu) noexcept {
    const Floats zero = all(0.0f);
    // clang-format off
#define ETCH_MVE_FINISH(then, ...)                                                                                \
    asm volatile(                                                                                                 \
        "dlstp.32     lr, %[n]               \n"                                                                  \
        "0:                                  \n\t"                                                                \
        "vldrw.u32    q0, [%[s0]], #16       \n\t"                                                                \
        "vldrw.u32    q1, [%[s1]], #16       \n\t"                                                                \
        "vcvt.f32.s32 q0, q0                 \n\t"                                                                \
        "vcvt.f32.s32 q1, q1                 \n\t"                                                                \
        "vldrw.u32    q2, [%[scales]], #16   \n\t"                                                                \
        "vmul.f32     q0, q0, %[f0]          \n\t"                                                                \
        "vmul.f32     q1, q1, %[f1]          \n\t"                                                                \
        "vldrw.u32    q3, [%[bias]], #16     \n\t"                                                                \
        "vmul.f32     q0, q0, q2             \n\t"                                                                \
        "vmul.f32     q1, q1, q2             \n\t"                                                                \
        "vadd.f32     q0, q0, q3             \n\t"                                                                \
        "vadd.f32     q1, q1, q3             \n\t"                                                                \
        then                                                                                                      \
        "vstrw.32     q0, [%[o0]], #16       \n\t"                                                                \
        "vstrw.32     q1, [%[o1]], #16       \n\t"                                                                \
        "letp         lr, 0b                 \n\t"                                                                \
        : [s0] "+r"(rows.sums[0]), [s1] "+r"(rows.sums[1]), [o0] "+r"(rows.out[0]), [o1] "+r"(rows.out[1]),       \
          [scales] "+r"(scales), [bias] "+r"(bias) __VA_ARGS__                                                    \
        : [n] "r"(count), [f0] "r"(rows.row_scales[0]), [f1] "r"(rows.row_scales[1]), [zero] "w"(zero)            \
        : "lr", "q0", "q1", "q2", "q3", "memory")
    if (with_residual) {
        ETCH_MVE_FINISH(
            "vldrw.u32    q2, [%[r0]], #16       \n\t"
            "vldrw.u32    q3, [%[r1]], #16       \n\t"
            "vadd.f32     q0, q0, q2             \n\t"
            "vadd.f32     q1, q1, q3             \n\t",
            , [r0] "+r"(rows.residual[0]), [r1] "+r"(rows.residual[1]));
    } else if (with_relu) {
        ETCH_MVE_FINISH(
            "vmaxnm.f32   q0, q0, %q[zero]       \n\t"
            "vmaxnm.f32   q1, q1, %q[zero]       \n\t", );
    } else {
        ETCH_MVE_FINISH("", );
    }
#undef ETCH_MVE_FINISH
    // clang-format on
}

// y[i] = ((x[i] - mean) * r) * gamma[i] + beta[i].
ETCH_INLINE void normalize(const float* x, float* y, const float* gamma, const float* beta, std::uint32_t n, float mean,
                           float r) noexcept {
    asm volatile(
        "dlstp.32   lr, %[n]         \n"
        "0:                          \n\t"
        "vldrw.u32  q0, [%[x]], #16  \n\t"
        "vsub.f32   q0, q0, %[m]     \n\t"
        "vldrw.u32  q1, [%[g]], #16  \n\t"
        "vmul.f32   q0, q0, %[r]     \n\t"
        "vldrw.u32  q2, [%[b]], #16  \n\t"
        "vmul.f32   q0, q0, q1       \n\t"
        "vadd.f32   q0, q0, q2       \n\t"
        "vstrw.32   q0, [%[y]], #16  \n\t"
        "letp       lr, 0b           \n\t"
        : [x] "+r"(x), [y] "+r"(y), [g] "+r"(gamma), [b] "+r"(beta)
        : [n] "r"(n), [m] "r"(mean), [r] "r"(r)
        : "lr", "q0", "q1", "q2", "memory");
}
