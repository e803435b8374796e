// SPDX-License-Identifier: Apache-2.0
// s8 x s8 -> s32 -> f32 by widening products with a scalar, tiles of 6 rows x 16 columns, the whole K in registers.
// Included inside the namespace of rvv.
//
// a       [rows][k], plain s8; zeros up to a multiple of kEncodedPadding values; row stride in bytes, any alignment.
// weights [n][allocated_k] s8 in Packing::panel, made by codegen/pack or by the Pack ops for keys and values; any
//         alignment.
// out     [rows][n] f32, row stride out_stride floats; columns from n on are not touched. residual may be out.
// Any rows (tails of 1 to 5 rows have their own tiles), any n (the last panel may be cut), any k.
//
// Narrowing shifts take a line of weights, 16 columns x 4 k, apart into the columns of each k. Products of two k add up
// in int16 (at most 2 * 127 * 127 = 32,258), which are added to int32: per 16 columns and 2 k vwmul, vwmacc and
// vwadd. The 16 sums of a row are a group of four registers of 128 bits: 24 registers of sums, 4 of weights and 4 of
// products are all 32. Longer registers need shorter groups for the same sums, and a CPU may take the time of a whole
// group whatever part of it is used: there is a loop for each of three lengths.

struct Ints {
    IntLanes lanes;
};

ETCH_INLINE Floats to_floats(Ints x) noexcept {
    return {__builtin_convertvector(x.lanes, FloatLanes)};
}

// Sixteen int32 in four registers of at least 128 bits.
struct GroupsOfFour {
    static ETCH_INLINE vint32m4_t zeros() noexcept { return __riscv_vmv_v_x_i32m4(0, 16); }
    // 64 bytes.
    static ETCH_INLINE vint32m4_t load(const std::int8_t* p) noexcept {
        return __riscv_vreinterpret_v_i8m4_i32m4(__riscv_vle8_v_i8m4(p, 64));
    }
};

// The same in two of at least 256 bits.
struct GroupsOfTwo {
    static ETCH_INLINE vint32m2_t zeros() noexcept { return __riscv_vmv_v_x_i32m2(0, 16); }
    static ETCH_INLINE vint32m2_t load(const std::int8_t* p) noexcept {
        return __riscv_vreinterpret_v_i8m2_i32m2(__riscv_vle8_v_i8m2(p, 64));
    }
};

// The same in one of at least 512 bits.
struct GroupsOfOne {
    static ETCH_INLINE vint32m1_t zeros() noexcept { return __riscv_vmv_v_x_i32m1(0, 16); }
    static ETCH_INLINE vint32m1_t load(const std::int8_t* p) noexcept {
        return __riscv_vreinterpret_v_i8m1_i32m1(__riscv_vle8_v_i8m1(p, 64));
    }
};

// sum += products of a[0..3] and the columns' weights of those k.
template <class Sum, class Column>
ETCH_INLINE void add_products(Sum& sum, const std::uint8_t* a, Column w0, Column w1, Column w2, Column w3) noexcept {
    std::int8_t values[4];
    std::memcpy(values, a, sizeof values);
    const auto first = __riscv_vwmacc(__riscv_vwmul(w0, values[0], 16), values[1], w1, 16);
    const auto second = __riscv_vwmacc(__riscv_vwmul(w2, values[2], 16), values[3], w3, 16);
    sum = __riscv_vwadd_wv(__riscv_vwadd_wv(sum, first, 16), second, 16);
}

// The sums of kRows rows from `a` on by the panel at `weights`. Vectors without a size cannot be elements of an array.
template <class Groups, unsigned kRows>
ETCH_INLINE void multiply_panel(const std::uint8_t* a, std::size_t a_stride, const std::int8_t* weights,
                                std::uint32_t groups, std::int32_t (&sums)[kRows][16]) noexcept {
    auto s0 = Groups::zeros();
    auto s1 = s0;
    auto s2 = s0;
    auto s3 = s0;
    auto s4 = s0;
    auto s5 = s0;
    for (; groups != 0; --groups) {
        const auto line = Groups::load(weights);
        weights += 64;
        const auto low = __riscv_vnsra(line, 0, 16);
        const auto high = __riscv_vnsra(line, 16, 16);
        const auto w0 = __riscv_vnsra(low, 0, 16);
        const auto w1 = __riscv_vnsra(low, 8, 16);
        const auto w2 = __riscv_vnsra(high, 0, 16);
        const auto w3 = __riscv_vnsra(high, 8, 16);
        add_products(s0, a, w0, w1, w2, w3);
        if constexpr (kRows > 1) add_products(s1, a + a_stride, w0, w1, w2, w3);
        if constexpr (kRows > 2) add_products(s2, a + 2 * a_stride, w0, w1, w2, w3);
        if constexpr (kRows > 3) add_products(s3, a + 3 * a_stride, w0, w1, w2, w3);
        if constexpr (kRows > 4) add_products(s4, a + 4 * a_stride, w0, w1, w2, w3);
        if constexpr (kRows > 5) add_products(s5, a + 5 * a_stride, w0, w1, w2, w3);
        a += 4;
    }
    __riscv_vse32(sums[0], s0, 16);
    if constexpr (kRows > 1) __riscv_vse32(sums[1], s1, 16);
    if constexpr (kRows > 2) __riscv_vse32(sums[2], s2, 16);
    if constexpr (kRows > 3) __riscv_vse32(sums[3], s3, 16);
    if constexpr (kRows > 4) __riscv_vse32(sums[4], s4, 16);
    if constexpr (kRows > 5) __riscv_vse32(sums[5], s5, 16);
}

struct TileS8 {
    static constexpr unsigned kMaxRows = 6;

    template <unsigned kRows>
    static ETCH_NOINLINE void run(const MatmulS8& m, const Columns<1>& columns, const std::int8_t* weights,
                                  std::uint32_t row) noexcept {
        const std::uint8_t* a = m.a.data + row * m.a.stride_bytes;
        const std::uint32_t groups = (m.k + 3) / 4;
        std::int32_t in_memory[kRows][16];
        const std::size_t register_bytes = __riscv_vlenb();
        if (register_bytes < 32) {
            multiply_panel<GroupsOfFour>(a, m.a.stride_bytes, weights, groups, in_memory);
        } else if (register_bytes < 64) {
            multiply_panel<GroupsOfTwo>(a, m.a.stride_bytes, weights, groups, in_memory);
        } else {
            multiply_panel<GroupsOfOne>(a, m.a.stride_bytes, weights, groups, in_memory);
        }
        Ints sums[kRows][1];
        ETCH_UNROLL
        for (unsigned r = 0; r < kRows; ++r)
            std::memcpy(&sums[r][0], in_memory[r], sizeof sums[r][0]);
        finish_tile_s8(m, row, columns, sums);
    }
};
