// SPDX-License-Identifier: Apache-2.0
// The sequences of polynomials.hpp on vectors. Included inside the namespace of each kernel set.

template <class Vector, unsigned kCount>
ETCH_INLINE Vector horner(const float (&coefficients)[kCount], Vector x) noexcept {
    Vector result = all<Vector>(coefficients[kCount - 1]);
    ETCH_UNROLL
    for (unsigned i = 1; i < kCount; ++i) {
        result = add(mul(result, x), all<Vector>(coefficients[kCount - 1 - i]));
        if constexpr (kLanesOf < Vector >> 16) keep_order(result);
    }
    return result;
}

// x <= 0.
template <class Vector>
ETCH_INLINE Vector exp2(Vector x) noexcept {
    const Vector shifter = all<Vector>(polynomials::kShifter);
    const Vector shifted = add(x, shifter);
    const Vector p = horner(polynomials::kExp2, sub(x, sub(shifted, shifter)));
    return scale_or_clear(p, shifted, x, all<Vector>(polynomials::kExp2Least));
}

// erf(x) of the sign of `x` and the magnitude |x|.
template <class Vector>
ETCH_INLINE Vector erf(Vector magnitude, Vector x) noexcept {
    const Vector z = min(magnitude, all<Vector>(polynomials::kErfLimit));
    const Vector e = exp2(mul(z, horner(polynomials::kErf, z)));
    return with_sign_of(sub(all<Vector>(1.0f), e), x);
}

// 1 <= y <= 2.
template <class Vector>
ETCH_INLINE Vector reciprocal(Vector y) noexcept {
    const Vector two = all<Vector>(2.0f);
    Vector r = horner(polynomials::kReciprocal, y);
    r = mul(r, sub(two, mul(y, r)));
    return mul(r, sub(two, mul(y, r)));
}

template <class Vector>
ETCH_INLINE Vector sigmoid(Vector x) noexcept {
    const Vector e = exp2(mul(absolute(x), all<Vector>(polynomials::kMinusLog2E)));
    const Vector r = reciprocal(add(all<Vector>(1.0f), e));
    return select_if_less(x, all<Vector>(0.0f), mul(e, r), r);
}

// What a pass over a row works on at a time.
constexpr std::uint32_t kBlock = kLanesOf<Wide>;

// z = sigmoid(z). Out of line: four activations come here.
ETCH_NOINLINE void sigmoid_block(float (&z)[kBlock]) noexcept {
    store(z, sigmoid(load<Wide>(z)));
}

ETCH_INLINE Wide sigmoid_by_call(Wide x) noexcept {
    alignas(64) float z[kBlock];
    store(z, x);
    sigmoid_block(z);
    return load<Wide>(z);
}

struct Relu {
    static ETCH_INLINE Wide of(Wide x) noexcept { return max(x, all<Wide>(0.0f)); }
};

struct Gelu {
    static ETCH_INLINE Wide of(Wide x) noexcept {
        const Wide magnitude = absolute(mul(x, all<Wide>(polynomials::kSqrtHalf)));
        const Wide factor = add(all<Wide>(1.0f), erf(magnitude, x));
        return mul(mul(x, all<Wide>(0.5f)), factor);
    }
};

struct GeluTanh {
    static ETCH_INLINE Wide of(Wide x) noexcept {
        const Wide cubic = mul(all<Wide>(polynomials::kGeluTanh3), mul(x, x));
        return mul(x, sigmoid_by_call(mul(x, add(all<Wide>(polynomials::kGeluTanh1), cubic))));
    }
};

struct QuickGelu {
    static ETCH_INLINE Wide of(Wide x) noexcept {
        return mul(x, sigmoid_by_call(mul(all<Wide>(polynomials::kQuickGelu), x)));
    }
};

struct Silu {
    static ETCH_INLINE Wide of(Wide x) noexcept { return mul(x, sigmoid_by_call(x)); }
};

struct Sigmoid {
    static ETCH_INLINE Wide of(Wide x) noexcept { return sigmoid_by_call(x); }
};

struct Tanh {
    static ETCH_INLINE Wide of(Wide x) noexcept {
        const Wide one = all<Wide>(1.0f);
        const Wide e = exp2(mul(absolute(x), all<Wide>(polynomials::kMinusTwoLog2E)));
        return with_sign_of(mul(sub(one, e), reciprocal(add(one, e))), x);
    }
};

// The block at x, of which `used` values exist: itself, or a copy if it is cut.
ETCH_INLINE float* whole_block(float* x, std::uint32_t used, float (&copy)[kBlock]) noexcept {
    if (used == kBlock) return x;
    store(copy, all<Wide>(0.0f));
    std::memcpy(copy, x, used * sizeof(float));
    return copy;
}

template <class Function>
ETCH_NOINLINE void map(float* x, std::uint32_t n, std::uint32_t rows, std::size_t stride) noexcept {
    alignas(64) float copy[kBlock];
    for (std::uint32_t row = 0; row < rows; ++row, x += stride) {
        for (std::uint32_t i = 0; i < n; i += kBlock) {
            const std::uint32_t used = n - i < kBlock ? n - i : kBlock;
            float* const block = whole_block(x + i, used, copy);
            store(block, Function::of(load<Wide>(block)));
            if (used < kBlock) std::memcpy(x + i, copy, used * sizeof(float));
        }
    }
}

// x[r][i] = activation(x[r][i]), i < n, r < rows, `stride` floats between rows.
void apply_activation(Activation activation, float* x, std::uint32_t n, std::uint32_t rows,
                      std::size_t stride) noexcept {
    switch (activation) {
        case Activation::none:
            return;
        case Activation::relu:
            return map<Relu>(x, n, rows, stride);
        case Activation::gelu:
            return map<Gelu>(x, n, rows, stride);
        case Activation::gelu_tanh:
            return map<GeluTanh>(x, n, rows, stride);
        case Activation::quick_gelu:
            return map<QuickGelu>(x, n, rows, stride);
        case Activation::silu:
            return map<Silu>(x, n, rows, stride);
        case Activation::tanh:
            return map<Tanh>(x, n, rows, stride);
        case Activation::sigmoid:
            return map<Sigmoid>(x, n, rows, stride);
    }
}

void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountActivateRow);
    apply_activation(activation, x, n, 1, 0);
}
