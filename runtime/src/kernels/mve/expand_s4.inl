// SPDX-License-Identifier: Apache-2.0
// Weights of 4 bits to s8 rows, a group at a time. Included inside the namespace of mve.

void expand_s4(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
               std::int8_t* expanded) noexcept {
    ETCH_COUNT_KERNEL_CALL(kCounted, kCountExpandS4);
    for (std::uint32_t output = 0; output < n; ++output) {
        for (std::uint32_t i = 0; i < k; i += kS4Group) {
            const std::int8_t factor = static_cast<std::int8_t>(*factors++);
            const int8x16_t nibbles = vldrbq_s8(q);
            vstrbq_s8(expanded, vmulq_n_s8(vshrq_n_s8(vshlq_n_s8(nibbles, 4), 4), factor));
            expanded += 16;
            if (k - i > 16) {
                vstrbq_s8(expanded, vmulq_n_s8(vshrq_n_s8(nibbles, 4), factor));
                expanded += 16;
            }
            q += 16;
        }
    }
}
