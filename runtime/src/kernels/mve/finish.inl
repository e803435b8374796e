// SPDX-License-Identifier: Apache-2.0
// What becomes of the sums of a product. Included inside the namespace of mve.

// Columns that are finished together: their sums wait on the stack for the end of a group. A multiple of the 3 columns
// of a tile and of a panel; many, so that few groups end with a tile that is cut.
constexpr std::uint32_t kGroup = 144;

struct Repeated {
    float values[kGroup];
    constexpr explicit Repeated(float value) noexcept : values() {
        for (float& each : values)
            each = value;
    }
};
constexpr Repeated kZeros(0.0f);
constexpr Repeated kOnes(1.0f);

// Stores the `count` <= kGroup values of row `row` that begin at `column`, value(i, lanes) being the four at i, with
// activation and residual. `Matmul` is MatmulS8 or MatmulF32.
template <class Matmul, class Value>
ETCH_INLINE void finish_row(const Matmul& m, std::uint32_t row, std::uint32_t column, std::uint32_t count,
                            Value value) noexcept {
    const std::size_t at = row * m.out_stride + column;
    float* const out = m.out + at;
    if (m.residual == nullptr) {
        for_each_4(count, [=](std::uint32_t i, auto lanes) ETCH_INLINE_BODY { lanes.write(out + i, value(i, lanes)); });
        return apply_activation(m.activation, out, count);
    }
    const float* const residual = m.residual + at;
    if (m.activation == Activation::none) {
        for_each_4(count, [=](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
            lanes.write(out + i, vaddq_f32(value(i, lanes), lanes.read(residual + i)));
        });
        return;
    }
    // The residual may be what out holds until now. No generated model asks for it.
    for (std::uint32_t i = 0; i < count; i += 4) {
        const FirstLanes lanes(count - i);
        float y[4];
        vst1q_f32(y, value(i, lanes));
        apply_activation(m.activation, y, 4);
        lanes.write(out + i, vaddq_f32(vld1q_f32(y), lanes.read(residual + i)));
    }
}

// The outputs of row `row` and the columns [column, column + count), count <= kGroup.
ETCH_NOINLINE void finish_s8(const MatmulS8& m, std::uint32_t row, std::uint32_t column, std::uint32_t count,
                             const std::int32_t* sums) noexcept {
    const float* const scales = m.column_scales == nullptr ? kOnes.values : m.column_scales + column;
    const float* const bias = m.bias == nullptr ? kZeros.values : m.bias + column;
    const float row_scale = m.a.scales[row];
    finish_row(m, row, column, count, [=](std::uint32_t i, auto lanes) ETCH_INLINE_BODY {
        const Floats scaled = vmulq_n_f32(vcvtq_f32_s32(vld1q_s32(sums + i)), row_scale);
        return vaddq_f32(vmulq_f32(scaled, lanes.read(scales + i)), lanes.read(bias + i));
    });
}

// Calls body(first column, count) for groups of the columns of the panels [first, last).
template <class Body>
ETCH_INLINE void for_each_group(std::uint32_t first, std::uint32_t last, std::uint32_t n, Body body) noexcept {
    const std::uint32_t end = last * kPanelWidth < n ? last * kPanelWidth : n;
    for (std::uint32_t column = first * kPanelWidth; column < end; column += kGroup)
        body(column, end - column < kGroup ? end - column : kGroup);
}
