// SPDX-License-Identifier: Apache-2.0
// What the matrix products share: how the output is cut into tiles, and what is done with a tile of sums. Included
// inside the namespace of each kernel set, behind repeated.inl.
//
// A Tile has kMaxRows and run<rows>(m, arguments..., first row).

// A tile's columns, kPanels neighbouring panels, and their constants. Several are always whole; one alone may be the
// last and end early.
template <unsigned kPanels>
class Columns {
  public:
    // Of m's column_scales and bias; null: ones and zeros.
    Columns(std::uint32_t panel, std::uint32_t n, const float* column_scales, const float* bias) noexcept
        : first(panel * 16),
          count(n - first < kPanels * 16 ? n - first : kPanels * 16),
          scales_(constants(column_scales, kOnes.values, cut_scales_)),
          bias_(constants(bias, kZeros.values, cut_bias_)) {}
    Columns(const Columns&) = delete;
    Columns& operator=(const Columns&) = delete;

    bool whole() const noexcept { return kPanels > 1 || count == 16; }
    Floats scales(unsigned panel) const noexcept { return load<Floats>(scales_ + panel * 16); }
    Floats bias(unsigned panel) const noexcept { return load<Floats>(bias_ + panel * 16); }

    const std::uint32_t first;
    const std::uint32_t count;  // at most kPanels * 16

  private:
    // Where 16 * kPanels constants lie: those of columns that do not exist are 0.
    const float* constants(const float* values, const float* absent, float (&cut)[16]) const noexcept {
        if (values == nullptr) return absent;
        if (whole()) return values + first;
        store(cut, FirstLanes(count).read(values + first));
        return cut;
    }

    float cut_scales_[16];
    float cut_bias_[16];
    const float* scales_;
    const float* bias_;
};

// The columns of a panel that ends early: values[rows][16], + residual unless null, to their place in out. Out of line:
// every tile has such an end, few products come to it.
ETCH_NOINLINE void store_cut(const float* values, std::uint32_t rows, std::uint32_t count, const float* residual,
                             float* out, std::size_t stride) noexcept {
    const FirstLanes lanes(count);
    for (std::uint32_t r = 0; r < rows; ++r) {
        Floats y = load<Floats>(values + r * 16);
        if (residual != nullptr) y = add(y, lanes.read(residual + r * stride));
        lanes.write(out + r * stride, y);
    }
}

// y[row][panel], + residual unless null, to the tile's place in out.
template <unsigned kRows, unsigned kPanels>
ETCH_INLINE void store_tile(const float* residual, float* out, std::size_t stride, const Columns<kPanels>& columns,
                            const Floats (&y)[kRows][kPanels]) noexcept {
    if (!columns.whole()) {
        alignas(64) float values[kRows * 16];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            store(values + r * 16, y[r][0]);
        return store_cut(values, kRows, columns.count, residual, out, stride);
    }
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        ETCH_UNROLL
        for (unsigned p = 0; p < kPanels; ++p)
            store(out + p * 16, residual == nullptr ? y[r][p] : add(y[r][p], load<Floats>(residual + p * 16)));
        out += stride;
        if (residual != nullptr) residual += stride;
    }
}

// A tile's values activated in a copy, because a residual may follow and because a row of the tile is too short to keep
// the CPU busy.
template <unsigned kRows, unsigned kPanels>
ETCH_INLINE void activate_tile(Activation activation, Floats (&y)[kRows][kPanels]) noexcept {
    alignas(64) float values[kRows * kPanels * 16];
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        ETCH_UNROLL
        for (unsigned p = 0; p < kPanels; ++p)
            store(values + (r * kPanels + p) * 16, y[r][p]);
    }
    apply_activation(activation, values, kRows * kPanels * 16, 1, 0);
    ETCH_UNROLL
    for (unsigned r = 0; r < kRows; ++r) {
        ETCH_UNROLL
        for (unsigned p = 0; p < kPanels; ++p)
            y[r][p] = load<Floats>(values + (r * kPanels + p) * 16);
    }
}

// Floats that activate_tile may have on the stack.
constexpr unsigned kCopiedFloats = 96;

// Activation and residual of a tile, y[row][panel] holding everything before; stores it. `Matmul` is MatmulS8 or
// MatmulF32.
template <unsigned kRows, unsigned kPanels, class Matmul>
ETCH_INLINE void finish_tile(const Matmul& m, std::uint32_t row, const Columns<kPanels>& columns,
                             Floats (&y)[kRows][kPanels]) noexcept {
    const std::size_t at = row * m.out_stride + columns.first;
    float* out = m.out + at;
    const float* residual = m.residual == nullptr ? nullptr : m.residual + at;
    static_assert(kRows * kPanels * 16 <= kCopiedFloats, "an activation may be followed by a residual");
    if (m.activation != Activation::none) activate_tile(m.activation, y);
    store_tile(residual, out, m.out_stride, columns, y);
}

// Dequantizes a tile of sums, with bias. `to_floats` converts int32 lanes.
template <unsigned kRows, unsigned kPanels, class Ints>
ETCH_INLINE void dequantize(const MatmulS8& m, std::uint32_t row, const Columns<kPanels>& columns,
                            const Ints (&sums)[kRows][kPanels], Floats (&y)[kRows][kPanels]) noexcept {
    ETCH_UNROLL
    for (unsigned p = 0; p < kPanels; ++p) {
        const Floats scales = columns.scales(p);
        const Floats bias = columns.bias(p);
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r) {
            const Floats scaled = mul(to_floats(sums[r][p]), all<Floats>(m.a.scales[row + r]));
            y[r][p] = add(mul(scaled, scales), bias);
        }
    }
}

// Dequantizes and finishes a tile of sums.
template <unsigned kRows, unsigned kPanels, class Ints>
ETCH_INLINE void finish_tile_s8(const MatmulS8& m, std::uint32_t row, const Columns<kPanels>& columns,
                                const Ints (&sums)[kRows][kPanels]) noexcept {
    Floats y[kRows][kPanels];
    dequantize(m, row, columns, sums, y);
    finish_tile(m, row, columns, y);
}

// The product of `most` rows from `row` on, or of as many as are left.
ETCH_INLINE MatmulS8 rows_of(const MatmulS8& m, std::uint32_t row, std::uint32_t most) noexcept {
    MatmulS8 some = m;
    const std::size_t skipped = row * m.out_stride;
    some.a = m.a.from(row);
    some.out = m.out + skipped;
    if (m.residual != nullptr) some.residual = m.residual + skipped;
    some.rows = m.rows - row < most ? m.rows - row : most;
    return some;
}

// The tile of the `left` rows, fewer than kRows, that begin at `row`.
template <class Tile, unsigned kRows, class Matmul, class... Arguments>
ETCH_INLINE void last_tile(std::uint32_t left, const Matmul& m, std::uint32_t row,
                           const Arguments&... arguments) noexcept {
    if constexpr (kRows > 1) {
        if (left == kRows - 1) return Tile::template run<kRows - 1>(m, arguments..., row);
        last_tile<Tile, kRows - 1>(left, m, row, arguments...);
    }
}

// All rows, a tile at a time.
template <class Tile, class Matmul, class... Arguments>
ETCH_INLINE void for_each_tile(const Matmul& m, const Arguments&... arguments) noexcept {
    std::uint32_t row = 0;
    for (; row + Tile::kMaxRows <= m.rows; row += Tile::kMaxRows)
        Tile::template run<Tile::kMaxRows>(m, arguments..., row);
    last_tile<Tile, Tile::kMaxRows>(m.rows - row, m, row, arguments...);
}
