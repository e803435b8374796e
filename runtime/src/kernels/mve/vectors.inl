// SPDX-License-Identifier: Apache-2.0
// Four floats in a register, and walking a row. Included inside the namespace of mve.
//
// A sum of two products would be made one fused instruction by an optimizer that sees them: -ffp-contract=off keeps
// them apart, and a test looks for vfma.

using Floats = float32x4_t;
using Ints = int32x4_t;

ETCH_INLINE Floats all(float x) noexcept {
    return vdupq_n_f32(x);
}
ETCH_INLINE float from_bits(std::uint32_t x) noexcept {
    float result;
    __builtin_memcpy(&result, &x, sizeof result);
    return result;
}
ETCH_INLINE Ints bits(Floats x) noexcept {
    return vreinterpretq_s32_f32(x);
}
ETCH_INLINE Floats floats(Ints x) noexcept {
    return vreinterpretq_f32_s32(x);
}

// All four lanes of a vector that lies in the row.
struct AllLanes {
    Floats read(const float* p) const noexcept { return vld1q_f32(p); }
    void write(float* p, Floats x) const noexcept { vst1q_f32(p, x); }
    Floats keep(Floats x) const noexcept { return x; }
};

// The first lanes, 0 to 4; the others load as +0.0f and are not stored, nor is their memory touched.
class FirstLanes {
  public:
    explicit FirstLanes(std::uint32_t count) noexcept : lanes_(vctp32q(count)) {}

    Floats read(const float* p) const noexcept { return vldrwq_z_f32(p, lanes_); }
    void write(float* p, Floats x) const noexcept { vstrwq_p_f32(p, x, lanes_); }
    // The other lanes become +0.0f.
    Floats keep(Floats x) const noexcept { return vpselq_f32(x, all(0.0f), lanes_); }

  private:
    mve_pred16_t lanes_;
};

// Walks a row of n floats: body(i, lanes) for the four at i.
template <class Body>
ETCH_INLINE void for_each_4(std::uint32_t n, Body body) noexcept {
    std::uint32_t i = 0;
    for (std::uint32_t blocks = n / 16; blocks != 0; --blocks, i += 16) {
        ETCH_UNROLL
        for (unsigned part = 0; part < 16; part += 4)
            body(i + part, AllLanes{});
    }
    for (; i < n; i += 4)
        body(i, FirstLanes(n - i));
}

// The contract's sum along a row of n values: 16 partials, then a tree +8, +4, +2, +1. value(i, lanes) are the four at
// i, +0.0f where there is none.
template <class Value>
ETCH_INLINE float row_sum(std::uint32_t n, Value value) noexcept {
    Floats sums[4] = {all(0.0f), all(0.0f), all(0.0f), all(0.0f)};
    std::uint32_t i = 0;
    for (std::uint32_t blocks = n / 16; blocks != 0; --blocks, i += 16) {
        ETCH_UNROLL
        for (unsigned part = 0; part < 4; ++part)
            sums[part] = vaddq_f32(sums[part], value(i + part * 4, AllLanes{}));
    }
    if (i < n) {
        float partials[16];
        ETCH_UNROLL
        for (unsigned part = 0; part < 4; ++part)
            vst1q_f32(partials + part * 4, sums[part]);
        for (float* partial = partials; i < n; i += 4, partial += 4)
            vst1q_f32(partial, vaddq_f32(vld1q_f32(partial), value(i, FirstLanes(n - i))));
        ETCH_UNROLL
        for (unsigned part = 0; part < 4; ++part)
            sums[part] = vld1q_f32(partials + part * 4);
    }
    const Floats four = vaddq_f32(vaddq_f32(sums[0], sums[2]), vaddq_f32(sums[1], sums[3]));
    return (four[0] + four[2]) + (four[1] + four[3]);
}
