// SPDX-License-Identifier: Apache-2.0
// What is done with sums of s8 products that lie in memory, those of a panel at a time. Included inside the namespaces
// of sets that have Ints, behind tiles.inl and their kActivatesBlocks. Out of line: no tile has to hold it for each of
// its panels, and none but the largest gain by a form of their own.

// With kActivatesBlocks a panel's activation is left to activate_block(), which keeps the CPU busy better where a block
// has several panels: of `rows` rows of the output from `row` on, `count` columns from `column` on.
ETCH_INLINE void activate_block(const MatmulS8& m, std::uint32_t row, std::uint32_t rows, std::uint32_t column,
                                std::uint32_t count) noexcept {
    if (!kActivatesBlocks || m.activation == Activation::none) return;
    apply_activation(m.activation, m.out + row * m.out_stride + column, count, rows, m.out_stride);
}

// That comes too late where there is a residual, too, which no generated model asks for.
ETCH_INLINE bool one_by_one(const MatmulS8& m) noexcept {
    return kActivatesBlocks && m.activation != Activation::none && m.residual != nullptr;
}

// multiply(m, panel), called for a panel of a row at a time, without the residual, which may be what the output holds,
// and into a copy. All of m but its weights is of that panel alone.
template <class Multiply>
ETCH_NOINLINE void multiply_one_by_one(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel,
                                       Multiply multiply) noexcept {
    for (std::uint32_t row = 0; row < m.rows; ++row) {
        for (std::uint32_t panel = first_panel; panel < last_panel; ++panel) {
            const std::size_t column = std::size_t{panel} * 16;
            float values[16];
            MatmulS8 one = m;
            one.a = m.a.from(row);
            if (m.column_scales != nullptr) one.column_scales += column;
            if (m.bias != nullptr) one.bias += column;
            one.residual = nullptr;
            one.out = values;
            one.out_stride = 16;
            one.rows = 1;
            one.n = m.n - panel * 16 < 16 ? m.n - panel * 16 : 16;
            multiply(one, panel);
            const std::size_t at = row * m.out_stride + column;
            for (std::uint32_t i = 0; i < one.n; ++i)
                m.out[at + i] = values[i] + m.residual[at + i];
        }
    }
}

// The output of a panel's columns that `lanes` say, out of sums[rows][16], which are not needed behind it.
template <class Lanes>
ETCH_INLINE void finish_rows(const MatmulS8& m, std::uint32_t row, std::uint32_t rows, std::uint32_t column,
                             std::int32_t* sums, const Lanes& lanes) noexcept {
    const Floats scales = m.column_scales == nullptr ? all<Floats>(1.0f) : lanes.read(m.column_scales + column);
    const Floats bias = m.bias == nullptr ? all<Floats>(0.0f) : lanes.read(m.bias + column);
    const auto dequantized = [&](std::uint32_t r) ETCH_INLINE_BODY {
        const Floats scaled = mul(to_floats(load_ints(sums + r * 16)), all<Floats>(m.a.scales[row + r]));
        return add(mul(scaled, scales), bias);
    };
    float* const values = reinterpret_cast<float*>(sums);
    const bool activated = !kActivatesBlocks && m.activation != Activation::none;
    if (activated) {
        for (std::uint32_t r = 0; r < rows; ++r)
            store(values + r * 16, dequantized(r));
        apply_activation(m.activation, values, rows * 16, 1, 0);
    }
    const std::size_t at = row * m.out_stride + column;
    float* out = m.out + at;
    const float* residual = m.residual == nullptr ? nullptr : m.residual + at;
    for (std::uint32_t r = 0; r < rows; ++r) {
        Floats y = activated ? load<Floats>(values + r * 16) : dequantized(r);
        if (residual != nullptr) {
            y = add(y, lanes.read(residual));
            residual += m.out_stride;
        }
        lanes.write(out, y);
        out += m.out_stride;
    }
}

// The same of a panel, and of `rows` rows from `row` on.
ETCH_NOINLINE void finish_panel(const MatmulS8& m, std::uint32_t row, std::uint32_t rows, std::uint32_t panel,
                                std::int32_t* sums) noexcept {
    const std::uint32_t column = panel * 16;
    if (m.n - column >= 16) return finish_rows(m, row, rows, column, sums, AllLanes<Floats>{});
    finish_rows(m, row, rows, column, sums, FirstLanes(m.n - column));
}
