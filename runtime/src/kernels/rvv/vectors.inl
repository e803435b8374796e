// SPDX-License-Identifier: Apache-2.0
// Sixteen floats in a group of registers. Included inside the namespace of rvv.
//
// Vectors of a fixed size are the compiler's own: of 64 bytes it makes groups of four registers of 128 bits, of which
// registers of more bits use a part. The vectors of <riscv_vector.h> have no size and could not be members.

typedef float FloatLanes __attribute__((vector_size(64)));
typedef std::int32_t IntLanes __attribute__((vector_size(64)));
typedef std::uint32_t BitLanes __attribute__((vector_size(64)));

struct Register {
    FloatLanes lanes;
};
constexpr std::uint32_t kRegisterLanes = 16;

using Floats = Register;
using Wide = Floats;  // an instruction on a group is four chains

ETCH_INLINE Register all(float x) noexcept {
    return {x - FloatLanes{}};  // x - 0.0f is x, also where x is -0.0f
}
ETCH_INLINE Register load(const float* p) noexcept {
    Register x;
    std::memcpy(&x, p, sizeof x);
    return x;
}
ETCH_INLINE void store(float* p, Register x) noexcept {
    std::memcpy(p, &x, sizeof x);
}
ETCH_INLINE Register add(Register x, Register y) noexcept {
    return {x.lanes + y.lanes};
}
ETCH_INLINE Register sub(Register x, Register y) noexcept {
    return {x.lanes - y.lanes};
}
ETCH_INLINE Register mul(Register x, Register y) noexcept {
    return {x.lanes * y.lanes};
}
// vfmax and vfmin treat zeros of different signs as different, the contract's comparison does not.
ETCH_INLINE Register max(Register x, Register y) noexcept {
    return {x.lanes > y.lanes ? x.lanes : y.lanes};
}
ETCH_INLINE Register min(Register x, Register y) noexcept {
    return {x.lanes < y.lanes ? x.lanes : y.lanes};
}
ETCH_INLINE BitLanes bits_of(Register x) noexcept {
    return reinterpret_cast<BitLanes>(x.lanes);
}
ETCH_INLINE Register of_bits(BitLanes bits) noexcept {
    return {reinterpret_cast<FloatLanes>(bits)};
}
ETCH_INLINE Register absolute(Register x) noexcept {
    return of_bits(bits_of(x) & 0x7FFFFFFFu);
}
ETCH_INLINE Register with_sign_of(Register magnitude, Register x) noexcept {
    return of_bits(bits_of(magnitude) | (bits_of(x) & 0x80000000u));
}
ETCH_INLINE Register select_if_less(Register x, Register y, Register less, Register otherwise) noexcept {
    return {x.lanes < y.lanes ? less.lanes : otherwise.lanes};
}
ETCH_INLINE Register scale_or_clear(Register p, Register shifted, Register x, Register least) noexcept {
    const Register scaled = of_bits(bits_of(p) + (bits_of(shifted) << 23));
    return {x.lanes < least.lanes ? FloatLanes{} : scaled.lanes};
}
ETCH_INLINE float tree_sum(Register x) noexcept {
    const auto eight = __builtin_shufflevector(x.lanes, x.lanes, 0, 1, 2, 3, 4, 5, 6, 7) +
                       __builtin_shufflevector(x.lanes, x.lanes, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto four =
        __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
    const auto two = __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
    return two[0] + two[1];
}
ETCH_INLINE float largest_of(Register x) noexcept {
    return __builtin_reduce_max(x.lanes);
}
ETCH_INLINE float square_root(float x) noexcept {
    return __builtin_elementwise_sqrt(x);
}
