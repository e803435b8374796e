// SPDX-License-Identifier: Apache-2.0
// What a kernel set lends to others of the same registers: the functions that multiply no bytes. Included inside the
// lender's namespace `common`. They have external linkage and are not inline: there is one of each in a program, and
// only these sets call it. In test builds they count for the lender.

void matmul_f32(const MatmulF32& m, std::uint32_t first_panel, std::uint32_t last_panel) noexcept;
float quantize_row_s8(const float* x, std::uint32_t n, std::int8_t* q) noexcept;
void layer_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, const float* beta, float epsilon,
                    float inverse_n) noexcept;
void rms_norm_row(const float* x, float* y, std::uint32_t n, const float* gamma, float epsilon,
                  float inverse_n) noexcept;
float exp2_row(float* t, std::uint32_t n) noexcept;
float exp2_sum(const float* x, std::uint32_t n, float factor, float largest) noexcept;
float largest_value(const float* x, std::uint32_t n) noexcept;
void activate_row(Activation activation, float* x, std::uint32_t n) noexcept;
void expand_s4(const std::int8_t* q, const std::uint8_t* factors, std::uint32_t n, std::uint32_t k,
               std::int8_t* expanded) noexcept;

// x[r][i] = activation(x[r][i]), i < n, r < rows, `stride` floats between rows.
void apply_activation(Activation activation, float* x, std::uint32_t n, std::uint32_t rows,
                      std::size_t stride) noexcept;
