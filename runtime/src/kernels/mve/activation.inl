// SPDX-License-Identifier: Apache-2.0
// The sequences of polynomials.hpp on vectors of four. Included inside the namespace of mve. Constants are operands in
// general registers, of which there are more than vectors.

template <unsigned kCount>
ETCH_INLINE Floats horner(const float (&coefficients)[kCount], Floats x) noexcept {
    Floats result = vaddq_n_f32(vmulq_n_f32(x, coefficients[kCount - 1]), coefficients[kCount - 2]);
    ETCH_UNROLL
    for (unsigned i = 2; i < kCount; ++i)
        result = vaddq_n_f32(vmulq_f32(result, x), coefficients[kCount - 1 - i]);
    return result;
}

// x - y for a constant x.
ETCH_INLINE Floats subtract_from(float x, Floats y) noexcept {
    return vsubq_f32(all(x), y);
}

// exp2 above its limit, as erf's argument always is.
ETCH_INLINE Floats exp2_near(Floats x) noexcept {
    const Floats shifted = vaddq_n_f32(x, polynomials::kShifter);
    const Floats p = horner(polynomials::kExp2, vsubq_f32(x, vsubq_n_f32(shifted, polynomials::kShifter)));
    return floats(vaddq_s32(bits(p), vshlq_n_s32(bits(shifted), 23)));
}

// x <= 0. Cleared where x - kExp2Least, whose sign is exact, is negative.
ETCH_INLINE Floats exp2(Floats x) noexcept {
    const Ints below = vshrq_n_s32(bits(vsubq_n_f32(x, polynomials::kExp2Least)), 31);
    return floats(vbicq_s32(bits(exp2_near(x)), below));
}

// magnitude >= 0.
ETCH_INLINE Floats with_sign_of(Floats magnitude, Floats x) noexcept {
    return floats(vsriq_n_s32(bits(x), vshlq_n_s32(bits(magnitude), 1), 1));
}

// 1 <= y <= 2.
ETCH_INLINE Floats reciprocal(Floats y) noexcept {
    Floats r = horner(polynomials::kReciprocal, y);
    r = vmulq_f32(r, subtract_from(2.0f, vmulq_f32(y, r)));
    return vmulq_f32(r, subtract_from(2.0f, vmulq_f32(y, r)));
}

ETCH_INLINE Floats sigmoid(Floats x) noexcept {
    const Floats e = exp2(vmulq_n_f32(vabsq_f32(x), polynomials::kMinusLog2E));
    const Floats r = reciprocal(vaddq_n_f32(e, 1.0f));
    return vpselq_f32(vmulq_f32(e, r), r, vcmpltq_n_f32(x, 0.0f));
}

struct Relu {
    static ETCH_INLINE Floats of(Floats x) noexcept { return vpselq_f32(x, all(0.0f), vcmpgtq_n_f32(x, 0.0f)); }
};

struct Gelu {
    static ETCH_INLINE Floats of(Floats x) noexcept {
        const Floats z = vminnmaq_f32(vmulq_n_f32(x, polynomials::kSqrtHalf), all(polynomials::kErfLimit));
        const Floats e = exp2_near(vmulq_f32(z, horner(polynomials::kErf, z)));
        const Floats factor = vaddq_n_f32(with_sign_of(subtract_from(1.0f, e), x), 1.0f);
        return vmulq_f32(vmulq_n_f32(x, 0.5f), factor);
    }
};

struct Tanh {
    static ETCH_INLINE Floats of(Floats x) noexcept {
        const Floats e = exp2(vmulq_n_f32(vabsq_f32(x), polynomials::kMinusTwoLog2E));
        return with_sign_of(vmulq_f32(subtract_from(1.0f, e), reciprocal(vaddq_n_f32(e, 1.0f))), x);
    }
};

// The constants of Gelu in the order in which gelu_blocks loads them.
struct GeluConstants {
    float first[9];   // 1 / sqrt(2), erf's from the highest on, its limit
    float second[8];  // the shifter, exp2's from the highest on, 1/2
};
constexpr GeluConstants kGeluConstants = {
    {polynomials::kSqrtHalf, polynomials::kErf[6], polynomials::kErf[5], polynomials::kErf[4], polynomials::kErf[3],
     polynomials::kErf[2], polynomials::kErf[1], polynomials::kErf[0], polynomials::kErfLimit},
    {polynomials::kShifter, polynomials::kExp2[5], polynomials::kExp2[4], polynomials::kExp2[3], polynomials::kExp2[2],
     polynomials::kExp2[1], polynomials::kExp2[0], 0.5f},
};
static_assert(polynomials::kExp2[0] == 1.0f, "also the one of 1 - e and of 1 + erf");

// Gelu of `blocks` times 8 values, at least one block. In assembly, because GCC 12 loads every constant again for every
// vector, a third of the instructions; here two ldm bring them for two vectors. q0 and q1 are x, q2 and q3 first z,
// then the shifted argument of exp2, q4 and q5 the values of the polynomials, q6 and q7 what is left.
ETCH_NOINLINE void gelu_blocks(float* x, std::uint32_t blocks) noexcept {
    const GeluConstants* constants = &kGeluConstants;
    // clang-format off
#define ETCH_STEP(to0, to1, x0, x1, constant)        \
    "vmul.f32 " to0 ", " to0 ", " x0 "         \n\t" \
    "vmul.f32 " to1 ", " to1 ", " x1 "         \n\t" \
    "vadd.f32 " to0 ", " to0 ", " constant "   \n\t" \
    "vadd.f32 " to1 ", " to1 ", " constant "   \n\t"
    asm volatile(
        "dls       lr, %[n]         \n"
        "0:                         \n\t"
        "ldmia     %[c]!, {r1, r2, r3, r4, r5, r6, r8, r9, r10} \n\t"
        "vldrw.u32 q0, [%[x]]       \n\t"
        "vldrw.u32 q1, [%[x], #16]  \n\t"
        "vdup.32   q6, r10          \n\t"
        "vmul.f32  q2, q0, r1       \n\t"
        "vmul.f32  q3, q1, r1       \n\t"
        "vminnma.f32 q2, q6         \n\t"
        "vminnma.f32 q3, q6         \n\t"
        "vmul.f32  q4, q2, r2       \n\t"
        "vmul.f32  q5, q3, r2       \n\t"
        "vadd.f32  q4, q4, r3       \n\t"
        "vadd.f32  q5, q5, r3       \n\t"
        ETCH_STEP("q4", "q5", "q2", "q3", "r4")
        ETCH_STEP("q4", "q5", "q2", "q3", "r5")
        ETCH_STEP("q4", "q5", "q2", "q3", "r6")
        ETCH_STEP("q4", "q5", "q2", "q3", "r8")
        ETCH_STEP("q4", "q5", "q2", "q3", "r9")
        "ldmia     %[c], {r1, r2, r3, r4, r5, r6, r8, r9} \n\t"
        "subs      %[c], #36        \n\t"
        "vmul.f32  q4, q4, q2       \n\t"
        "vmul.f32  q5, q5, q3       \n\t"
        "vadd.f32  q2, q4, r1       \n\t"
        "vadd.f32  q3, q5, r1       \n\t"
        "vsub.f32  q6, q2, r1       \n\t"
        "vsub.f32  q7, q3, r1       \n\t"
        "vsub.f32  q4, q4, q6       \n\t"
        "vsub.f32  q5, q5, q7       \n\t"
        "vmul.f32  q6, q4, r2       \n\t"
        "vmul.f32  q7, q5, r2       \n\t"
        "vadd.f32  q6, q6, r3       \n\t"
        "vadd.f32  q7, q7, r3       \n\t"
        ETCH_STEP("q6", "q7", "q4", "q5", "r4")
        ETCH_STEP("q6", "q7", "q4", "q5", "r5")
        ETCH_STEP("q6", "q7", "q4", "q5", "r6")
        ETCH_STEP("q6", "q7", "q4", "q5", "r8")
        "vshl.i32  q2, q2, #23      \n\t"
        "vshl.i32  q3, q3, #23      \n\t"
        "vadd.i32  q6, q6, q2       \n\t"
        "vadd.i32  q7, q7, q3       \n\t"
        "vneg.f32  q6, q6           \n\t"
        "vneg.f32  q7, q7           \n\t"
        "vadd.f32  q6, q6, r8       \n\t"
        "vadd.f32  q7, q7, r8       \n\t"
        "vmul.f32  q2, q0, r9       \n\t"
        "vmul.f32  q3, q1, r9       \n\t"
        "vshl.i32  q6, q6, #1       \n\t"
        "vshl.i32  q7, q7, #1       \n\t"
        "vsri.32   q0, q6, #1       \n\t"
        "vsri.32   q1, q7, #1       \n\t"
        "vadd.f32  q0, q0, r8       \n\t"
        "vadd.f32  q1, q1, r8       \n\t"
        "vmul.f32  q2, q2, q0       \n\t"
        "vmul.f32  q3, q3, q1       \n\t"
        "vstrw.32  q2, [%[x]], #16  \n\t"
        "vstrw.32  q3, [%[x]], #16  \n\t"
        "le        lr, 0b           \n\t"
        : [x] "+r"(x), [c] "+r"(constants)
        : [n] "r"(blocks)
        : "r1", "r2", "r3", "r4", "r5", "r6", "r8", "r9", "r10", "lr", "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7",
          "cc", "memory");
#undef ETCH_STEP
    // clang-format on
}

// One loop for whole vectors and the rest, so that a function's code is there once.
template <class Function>
ETCH_NOINLINE void map(float* x, std::uint32_t n) noexcept {
    for (std::uint32_t i = 0; i < n; i += 4) {
        const FirstLanes lanes(n - i);
        lanes.write(x + i, Function::of(lanes.read(x + i)));
    }
}

// The four that need a sigmoid: that of x, or x times that of an argument. One loop, which asks for every vector what
// its argument is: the sigmoid, most of the code, is there once.
ETCH_NOINLINE void map_sigmoid(Activation activation, float* row, std::uint32_t n) noexcept {
    for (std::uint32_t i = 0; i < n; i += 4) {
        const FirstLanes lanes(n - i);
        const Floats x = lanes.read(row + i);
        Floats argument = x;
        if (activation == Activation::quick_gelu) argument = vmulq_n_f32(x, polynomials::kQuickGelu);
        if (activation == Activation::gelu_tanh) {
            const Floats cubic = vmulq_n_f32(vmulq_f32(x, x), polynomials::kGeluTanh3);
            argument = vmulq_f32(x, vaddq_n_f32(cubic, polynomials::kGeluTanh1));
        }
        const Floats y = sigmoid(argument);
        lanes.write(row + i, activation == Activation::sigmoid ? y : vmulq_f32(x, y));
    }
}

void apply_activation(Activation activation, float* x, std::uint32_t n) noexcept {
    switch (activation) {
        case Activation::none:
            return;
        case Activation::relu:
            return map<Relu>(x, n);
        case Activation::gelu:
            if (n >= 8) gelu_blocks(x, n / 8);
            return map<Gelu>(x + n / 8 * 8, n % 8);
        case Activation::tanh:
            return map<Tanh>(x, n);
        case Activation::gelu_tanh:
        case Activation::quick_gelu:
        case Activation::silu:
        case Activation::sigmoid:
            return map_sigmoid(activation, x, n);
    }
}

void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountActivateRow);
    apply_activation(activation, x, n);
}
