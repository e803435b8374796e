// SPDX-License-Identifier: Apache-2.0
// What is different on CPUs to which a register is two halves, Zen 4: rows are encoded as q, and the weights alone are
// shifted by 128, whatever the number of rows (../vector/matmul_vnni_offset.inl). Nothing is multiplied to find the
// sums of columns: 1 to 3 % less time for 8 to 72 rows. Included inside the namespace of avx512_vnni, behind
// matmul_s4.inl.

namespace halved {

float quantize_row(const float* x, std::uint32_t n, std::uint8_t* encoded) noexcept {
    return quantize_row_by(x, n, encoded, EncodePlain{});
}

float quantize_probabilities(float* e, const float* value_scales, std::uint32_t n, std::uint8_t* encoded) noexcept {
    return quantize_probabilities_by(e, value_scales, n, encoded, EncodePlain{});
}

// Its second cache is 1 MB, half of Intel's: 221 rows of BERT-base's inner width are 2.7 MB, 80 rows 1.0. To multiply a
// byte of weights by so many rows takes it more than a cycle, which hides reading it again: 3 % faster than one block
// of 221 rows in one thread, and 2 % in two; 72 to 96 take the same time.
constexpr std::uint32_t kBlockRows = 80;

// Up to kBlockRows rows.
ETCH_INLINE void multiply_block(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel,
                                bool copied) noexcept {
    std::int32_t row_sums[kBlockRows];
    find_row_sums<ByPlainRows>(m, row_sums);
    if (m.rows <= kManyPanels) return multiply_fewest_rows<ByPlainRows>(m, row_sums, first_panel, last_panel, copied);
    for_each_group<kMostPanels>(first_panel, last_panel, [&](auto size, std::uint32_t panel) ETCH_INLINE_BODY {
        constexpr unsigned kPanels = decltype(size)::value;
        constexpr unsigned kMost = kPanels > 1 ? kMostByRows : kManyPanels;  // one comes where there is no other
        multiply_by_rows<ByPlainRows, kPanels, kMost / 2, kMost>(m, panel, row_sums, copied);
    });
}

// Copying rows costs more than it brings: 2 to 4 % of a product of k = 384 and 768. Copied are those that push each
// other out of a cache of 8 ways.
void matmul_s8(const MatmulS8& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    const bool copied = m.a.stride_bytes % 2048 == 0 && m.k >= kCopiedFrom;
    if (one_by_one(m)) {
        return multiply_one_by_one(m, first_panel, last_panel, [](MatmulS8& one, std::uint32_t panel) ETCH_INLINE_BODY {
            one.weights += packed_s8_bytes(Packing::panel, panel * 16, one.allocated_k);
            multiply_block(one, 0, 1, false);
        });
    }
    for (std::uint32_t row = 0; row < m.rows; row += kBlockRows)
        multiply_block(rows_of(m, row, kBlockRows), first_panel, last_panel, copied);
}

void matmul_s4(const MatmulS8& m, const std::uint8_t* factors, std::uint32_t first_panel,
               std::uint32_t last_panel) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountMatmulS8);
    avx512_vnni::matmul_s4(m, RowsS4::plain, factors, first_panel, last_panel);
}

}  // namespace halved
