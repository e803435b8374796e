// SPDX-License-Identifier: Apache-2.0
// The columns of a product in groups of kGroup, and what each has where the product has no constants. Included inside
// the namespaces of the sets of Packing::rows, behind their kGroup.

struct Repeated {
    float values[kGroup];
    constexpr explicit Repeated(float value) noexcept : values() {
        for (float& each : values)
            each = value;
    }
};
constexpr Repeated kZeros(0.0f);
constexpr Repeated kOnes(1.0f);

// The constants of the columns from `column` on; null: ones and zeros, for kGroup columns.
ETCH_INLINE const float* scales_of(const MatmulS8& m, std::uint32_t column) noexcept {
    return m.column_scales == nullptr ? kOnes.values : m.column_scales + column;
}
template <class Matmul>
ETCH_INLINE const float* bias_of(const Matmul& m, std::uint32_t column) noexcept {
    return m.bias == nullptr ? kZeros.values : m.bias + column;
}
template <class Matmul>
ETCH_INLINE const float* residual_of(const Matmul& m, std::size_t at) noexcept {
    return m.residual == nullptr ? nullptr : m.residual + at;
}

// Calls body(first column, count) for groups of the columns of the panels [first, last).
template <class Body>
ETCH_INLINE void for_each_group(std::uint32_t first, std::uint32_t last, std::uint32_t n, Body body) noexcept {
    const std::uint32_t end = last * kPanelWidth < n ? last * kPanelWidth : n;
    for (std::uint32_t column = first * kPanelWidth; column < end; column += kGroup)
        body(column, end - column < kGroup ? end - column : kGroup);
}
