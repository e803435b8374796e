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

ETCH_INLINE float gelu_tanh(float x) noexcept {
    return x * scalar::sigmoid(x * (polynomials::kGeluTanh1 + polynomials::kGeluTanh3 * (x * x)));
}

ETCH_INLINE float quick_gelu(float x) noexcept {
    return x * scalar::sigmoid(polynomials::kQuickGelu * x);
}

ETCH_INLINE float silu(float x) noexcept {
    return x * scalar::sigmoid(x);
}

template <float (*kFunction)(float) noexcept>
ETCH_NOINLINE void map(float* x, std::uint32_t n) noexcept {
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 0; i < n; ++i)
        x[i] = kFunction(x[i]);
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
            return map<gelu_tanh>(x, n);
        case Activation::quick_gelu:
            return map<quick_gelu>(x, n);
        case Activation::silu:
            return map<silu>(x, n);
        case Activation::tanh:
            return map<scalar::tanh>(x, n);
        case Activation::sigmoid:
            return map<scalar::sigmoid>(x, n);
    }
}

void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountActivateRow);
    apply_activation(activation, x, n);
}
