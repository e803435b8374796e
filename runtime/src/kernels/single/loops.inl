// SPDX-License-Identifier: Apache-2.0
// The loops of quantization in C++. For the sets plain and dsp, included inside their namespaces.
//
// Floats of one sign are ordered as their bits are: comparing these as integers takes fewer instructions, and far fewer
// where the CPU has no floating point.

using scalar::bits_of;
using scalar::from_bits;

// The largest |x[i]|. Out of line, like round_row: three functions come here.
ETCH_NOINLINE float largest_magnitude(const float* x, std::uint32_t n) noexcept {
    std::uint32_t largest = 0;  // without the sign, which is shifted out
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint32_t magnitude = bits_of(x[i]) << 1;
        largest = magnitude > largest ? magnitude : largest;
    }
    return from_bits(largest >> 1);
}

// q[i] = rne(x[i] * factor), which the addition leaves in the lowest byte.
ETCH_NOINLINE void round_row(const float* x, std::uint32_t n, float factor, std::int8_t* q) noexcept {
    ETCH_UNROLL_BY_4
    for (std::uint32_t i = 0; i < n; ++i)
        q[i] = static_cast<std::int8_t>(bits_of(x[i] * factor + polynomials::kShifter));
}
