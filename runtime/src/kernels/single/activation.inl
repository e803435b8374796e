// SPDX-License-Identifier: Apache-2.0
// The sequences of polynomials.hpp, one value at a time. For the sets plain and dsp, included inside their namespaces.

// +0.0f where the sign is set, which is copied to every bit of the mask.
ETCH_INLINE float relu(float x) noexcept {
    const std::uint32_t bits = bits_of(x);
    return from_bits(bits & ~(0u - (bits >> 31)));
}

// exp2 above its limit, as erf's argument always is.
ETCH_INLINE float exp2_near(float x) noexcept {
    const float shifted = x + polynomials::kShifter;
    const float fraction = x - (shifted - polynomials::kShifter);
    return from_bits(bits_of(scalar::horner(polynomials::kExp2, fraction)) + (bits_of(shifted) << 23));
}

// (x / 2) (1 + erf(x / sqrt(2))). z = min(|x / sqrt(2)|, limit) by bits, which order as the magnitudes do.
ETCH_INLINE float gelu(float x) noexcept {
    const std::uint32_t magnitude = bits_of(x * polynomials::kSqrtHalf) & 0x7FFFFFFFu;
    const std::uint32_t limit = 0x40800000u;  // kErfLimit
    static_assert(polynomials::kErfLimit == 4.0f);
    const float z = from_bits(magnitude < limit ? magnitude : limit);
    const float e = exp2_near(z * scalar::horner(polynomials::kErf, z));
    return (x * 0.5f) * (1.0f + scalar::with_sign_of(1.0f - e, x));
}

template <float (*kFunction)(float) noexcept>
ETCH_NOINLINE void map(float* x, std::uint32_t n) noexcept {
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 0; i < n; ++i)
        x[i] = kFunction(x[i]);
}

// An argument and result that boards with floats pass in registers.
struct Four {
    float values[4];
};

// Out of line: each of the four functions that need it would have 1.4 KB of its own.
ETCH_NOINLINE Four sigmoid_of_four(Four x) noexcept {
    ETCH_UNROLL
    for (float& value : x.values)
        value = scalar::sigmoid(value);
    return x;
}

// What sigmoid functions take the sigmoid of, and whether they multiply it by x.
struct Sigmoid {
    static constexpr bool kTimesX = false;
    static ETCH_INLINE float argument(float x) noexcept { return x; }
};

struct Silu {
    static constexpr bool kTimesX = true;
    static ETCH_INLINE float argument(float x) noexcept { return x; }
};

struct QuickGelu {
    static constexpr bool kTimesX = true;
    static ETCH_INLINE float argument(float x) noexcept { return polynomials::kQuickGelu * x; }
};

struct GeluTanh {
    static constexpr bool kTimesX = true;
    static ETCH_INLINE float argument(float x) noexcept {
        return x * (polynomials::kGeluTanh1 + polynomials::kGeluTanh3 * (x * x));
    }
};

template <class Function>
ETCH_INLINE void map_sigmoid_of(float* x, std::uint32_t count) noexcept {
    Four block = {};
    ETCH_UNROLL
    for (std::uint32_t i = 0; i < count; ++i)
        block.values[i] = Function::argument(x[i]);
    block = sigmoid_of_four(block);
    ETCH_UNROLL
    for (std::uint32_t i = 0; i < count; ++i)
        x[i] = Function::kTimesX ? x[i] * block.values[i] : block.values[i];
}

template <class Function>
ETCH_NOINLINE void map_sigmoid(float* x, std::uint32_t n) noexcept {
    for (; n >= 4; n -= 4, x += 4)
        map_sigmoid_of<Function>(x, 4);
    for (; n != 0; --n, ++x)
        map_sigmoid_of<Function>(x, 1);
}

void apply_activation(Activation activation, float* x, std::uint32_t n) noexcept {
    switch (activation) {
        case Activation::none:
            return;
        case Activation::relu:
            return map<relu>(x, n);
        case Activation::gelu:
            return map<gelu>(x, n);
        case Activation::gelu_tanh:
            return map_sigmoid<GeluTanh>(x, n);
        case Activation::quick_gelu:
            return map_sigmoid<QuickGelu>(x, n);
        case Activation::silu:
            return map_sigmoid<Silu>(x, n);
        case Activation::tanh:
            return map<scalar::tanh>(x, n);
        case Activation::sigmoid:
            return map_sigmoid<Sigmoid>(x, n);
    }
}

void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountActivateRow);
    apply_activation(activation, x, n);
}
