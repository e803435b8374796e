// SPDX-License-Identifier: Apache-2.0
// The functions of common_declarations.inl. Included inside the lender's namespace `common`; `own` is the lender's.

void matmul_f32(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept {
    own::matmul_f32(m, first_panel, last_panel);
}
float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept {
    return own::quantize_row_s8(x, n, q);
}
void layer_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
                    float inverse_n) noexcept {
    own::layer_norm_row(x, y, n, gamma, beta, epsilon, inverse_n);
}
void rms_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, float epsilon,
                  float inverse_n) noexcept {
    own::rms_norm_row(x, y, n, gamma, epsilon, inverse_n);
}
float exp2_row(float* t, std::uint32_t n) noexcept {
    return own::exp2_row(t, n);
}
float exp2_sum(const float* x, std::uint32_t n, float factor, float largest) noexcept {
    return own::exp2_sum(x, n, factor, largest);
}
float largest_value(const float* x, std::uint32_t n) noexcept {
    return own::largest_value(x, n);
}
void activate_row(Activation activation, float* x, std::uint32_t n) noexcept {
    own::activate_row(activation, x, n);
}
void expand_s4(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
               std::int8_t* expanded) noexcept {
    own::expand_s4(q, factors, n, k, expanded);
}
void apply_activation(Activation activation, float* x, std::uint32_t n, std::uint32_t rows,
                      std::size_t stride) noexcept {
    own::apply_activation(activation, x, n, rows, stride);
}
