// SPDX-License-Identifier: Apache-2.0
// Sixteen floats in two registers, for the sets avx2 and avx_vnni. Included inside their namespaces.

using Floats = Pair<Register>;
using Wide = Pair<Floats>;

constexpr std::int32_t kLaneMasks[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

// The first `count` of 16; the others load as +0.0f and are not stored, nor is their memory touched.
class FirstLanes {
  public:
    explicit FirstLanes(std::uint32_t count) noexcept
        : count_(count), low_(mask(count < 8 ? count : 8)), high_(mask(count < 8 ? 0 : count - 8)) {}

    Floats read(const float* p) const noexcept {
        return {{_mm256_maskload_ps(p, low_)}, {_mm256_maskload_ps(p + 8, high_)}};
    }
    void write(float* p, Floats x) const noexcept {
        _mm256_maskstore_ps(p, low_, x.low.lanes);
        _mm256_maskstore_ps(p + 8, high_, x.high.lanes);
    }
    void write_bytes(std::int8_t* p, __m128i x) const noexcept {
        alignas(16) std::int8_t bytes[16];
        _mm_store_si128(reinterpret_cast<__m128i*>(bytes), x);
        for (std::uint32_t i = 0; i < count_; ++i)
            p[i] = bytes[i];
    }
    // The other lanes become +0.0f, or those of `other`.
    Floats keep(Floats x) const noexcept {
        return {{_mm256_and_ps(x.low.lanes, _mm256_castsi256_ps(low_))},
                {_mm256_and_ps(x.high.lanes, _mm256_castsi256_ps(high_))}};
    }
    Floats read_or(const float* p, Floats other) const noexcept {
        const Floats x = read(p);
        return {{_mm256_blendv_ps(other.low.lanes, x.low.lanes, _mm256_castsi256_ps(low_))},
                {_mm256_blendv_ps(other.high.lanes, x.high.lanes, _mm256_castsi256_ps(high_))}};
    }

  private:
    static __m256i mask(std::uint32_t count) noexcept {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(kLaneMasks + (8 - count)));
    }

    std::uint32_t count_;
    __m256i low_;
    __m256i high_;
};

// rne(x) as int16, in each 128-bit lane 4 values of the lower and then 4 of the upper half: 0-3, 8-11 | 4-7, 12-15.
ETCH_INLINE __m256i round_to_words(Floats x) noexcept {
    return _mm256_packs_epi32(_mm256_cvtps_epi32(x.low.lanes), _mm256_cvtps_epi32(x.high.lanes));
}

// rne(x), |x| <= 127, in order.
ETCH_INLINE __m128i round_to_bytes(Floats x) noexcept {
    const __m256i in_order = _mm256_permute4x64_epi64(round_to_words(x), 0xD8);
    return _mm_packs_epi16(_mm256_castsi256_si128(in_order), _mm256_extracti128_si256(in_order, 1));
}

template <class Lanes>
ETCH_INLINE void store_bytes(std::int8_t* q, Floats x, const Lanes& lanes) noexcept {
    if constexpr (std::is_same_v<Lanes, FirstLanes>) {
        lanes.write_bytes(q, round_to_bytes(x));
    } else {
        _mm_storeu_si128(reinterpret_cast<__m128i*>(q), round_to_bytes(x));
    }
}
