// SPDX-License-Identifier: Apache-2.0
// Part of a register, and its conversion to bytes. Included inside the namespace of avx512_vnni.

using Floats = Register;
using Wide = Pair<Pair<Register>>;

// The first `count` of 16; the others load as +0.0f and are not stored, nor is their memory touched.
class FirstLanes {
  public:
    explicit FirstLanes(std::uint32_t count) noexcept : mask_(static_cast<__mmask16>(0xFFFFu >> (16 - count))) {}

    Floats read(const float* p) const noexcept { return {_mm512_maskz_loadu_ps(mask_, p)}; }
    void write(float* p, Floats x) const noexcept { _mm512_mask_storeu_ps(p, mask_, x.lanes); }
    void write_bytes(std::int8_t* p, __m128i x) const noexcept { _mm_mask_storeu_epi8(p, mask_, x); }
    // The other lanes become +0.0f, or those of `other`.
    Floats keep(Floats x) const noexcept { return {_mm512_maskz_mov_ps(mask_, x.lanes)}; }
    Floats read_or(const float* p, Floats other) const noexcept {
        return {_mm512_mask_loadu_ps(other.lanes, mask_, p)};
    }

  private:
    __mmask16 mask_;
};

// rne(x), |x| <= 127.
ETCH_INLINE __m128i round_to_bytes(Floats x) noexcept {
    return _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(x.lanes));
}

template <class Lanes>
ETCH_INLINE void store_bytes(std::int8_t* q, Floats x, const Lanes& lanes) noexcept {
    if constexpr (std::is_same_v<Lanes, FirstLanes>) {
        lanes.write_bytes(q, round_to_bytes(x));
    } else {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(q), round_to_bytes(x));
    }
}
