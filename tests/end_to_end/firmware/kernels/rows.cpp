// SPDX-License-Identifier: Apache-2.0
// Operations along a row: every length around the vectors, values of every size
// that the arithmetic contract lets decide a bit, and what lies behind the row.
#include "values.hpp"

namespace checks {
namespace {

using etch::Activation;
using etch::KernelSet;

constexpr std::uint32_t kMax = 520;
constexpr std::uint32_t kBehind = 20;

float x[kMax];
float gamma[kMax];
float beta[kMax];
float got[kMax + kBehind];
float want[kMax + kBehind];
alignas(16) std::uint8_t got_q[kMax + kBehind];
alignas(16) std::uint8_t want_q[kMax + kBehind];

// Rows worth looking at; false past the last.
bool make_row(unsigned kind, std::uint32_t n) noexcept {
    Random random(n * 31 + kind);
    const float scales[] = {1.0f, 1e-3f, 1e6f, 0x1p-41f, 0x1p-39f, 0x1p49f};
    const float constants[] = {0.0f, -0.0f, -3.75f, 0x1p-40f, 0x1.fffffep-41f};
    if (kind < 6) {
        random.fill(x, n, scales[kind]);
    } else if (kind < 11) {
        for (std::uint32_t i = 0; i < n; ++i)
            x[i] = constants[kind - 6];
    } else if (kind == 11) {
        random.fill(x, n);
        x[n - 1] = -7.0f;
    } else if (kind == 12) {  // x * r is exactly on .5
        for (std::uint32_t i = 0; i < n; ++i)
            x[i] = static_cast<float>(static_cast<int>(i % 253) - 126) + 0.5f;
        x[0] = 127.0f;
    } else {
        return false;
    }
    return true;
}

void start(std::uint32_t n) noexcept {
    for (float* to : {got, want}) {
        std::memcpy(to, x, n * sizeof *x);
        for (std::uint32_t i = n; i < kMax + kBehind; ++i)
            to[i] = 77.0f;
    }
    std::memset(got_q, 0xA5, sizeof got_q);
    std::memset(want_q, 0xA5, sizeof want_q);
}

bool same_floats() noexcept {
    return same_bits(got, want, sizeof got);
}

bool same_bytes() noexcept {
    return same_bits(got_q, want_q, sizeof got_q);
}

std::int8_t* s8(std::uint8_t* q) noexcept {
    return reinterpret_cast<std::int8_t*>(q);
}

void compare(const KernelSet& set, const KernelSet& scalar, std::uint32_t n, unsigned kind, Report& report) noexcept {
    start(n);
    float mine = set.quantize_row(got, n, got_q);
    float theirs = scalar.quantize_row(want, n, want_q);
    report.expect(same_bits(&mine, &theirs, 4) && same_bytes() && same_floats(), "quantize_row: n, kind", n, kind);

    start(n);
    mine = set.quantize_row_s8(got, n, s8(got_q));
    theirs = scalar.quantize_row_s8(want, n, s8(want_q));
    report.expect(same_bits(&mine, &theirs, 4) && same_bytes(), "quantize_row_s8: n, kind", n, kind);

    const float inverse = static_cast<float>(1.0 / n);
    start(n);
    set.layer_norm_row(got, got, n, gamma, beta, 1e-12f, inverse);
    scalar.layer_norm_row(want, want, n, gamma, beta, 1e-12f, inverse);
    report.expect(same_floats(), "layer_norm_row: n, kind", n, kind);
    std::memset(got, 0, n * sizeof *got);
    set.layer_norm_row(x, got, n, gamma, beta, 1e-12f, inverse);
    report.expect(same_floats(), "layer_norm_row, not in place: n, kind", n, kind);

    start(n);
    set.rms_norm_row(got, got, n, gamma, 1e-12f, inverse);
    scalar.rms_norm_row(want, want, n, gamma, 1e-12f, inverse);
    report.expect(same_floats(), "rms_norm_row: n, kind", n, kind);
    std::memset(got, 0, n * sizeof *got);
    set.rms_norm_row(x, got, n, gamma, 1e-12f, inverse);
    report.expect(same_floats(), "rms_norm_row, not in place: n, kind", n, kind);
}

void compare_softmax(const KernelSet& set, const KernelSet& scalar, std::uint32_t n, Report& report) noexcept {
    for (const float scale : {0.0f, 1.0f, 20.0f, 80.0f, 1e6f}) {
        Random(n).fill(x, n, scale, 5.0f);
        start(n);
        float mine = set.largest_value(x, n);
        float theirs = scalar.largest_value(x, n);
        report.expect(same_bits(&mine, &theirs, 4), "largest_value: n", n);
        mine = set.exp2_sum(x, n, 1.5f, theirs);
        theirs = scalar.exp2_sum(x, n, 1.5f, theirs);
        report.expect(same_bits(&mine, &theirs, 4), "exp2_sum: n", n);
        mine = set.exp2_row(got, n);
        theirs = scalar.exp2_row(want, n);
        report.expect(same_bits(&mine, &theirs, 4) && same_floats(), "exp2_row: n", n);
    }
    for (const float scale : {1.0f, 1e-3f, 0x1p-41f, 0x1p-40f, 0.0f}) {
        Random(n).fill(x, n, 0.5f, 0.5f);
        x[n / 2] = 1.0f;
        Random(n + 1).fill(gamma, n, 0.4f * scale, 0.6f * scale);
        start(n);
        float mine = set.quantize_probabilities(got, gamma, n, got_q);
        float theirs = scalar.quantize_probabilities(want, gamma, n, want_q);
        report.expect(same_bits(&mine, &theirs, 4) && same_floats() && same_bytes(), "quantize_probabilities: n", n);
    }
}

void compare_activations(const KernelSet& set, const KernelSet& scalar, Report& report) noexcept {
    for (int which = 0; which <= static_cast<int>(Activation::sigmoid); ++which) {
        const Activation activation = static_cast<Activation>(which);
        for (std::uint32_t n = 1; n <= 40; ++n) {
            Random(n).fill(x, n, 9.0f);
            start(n);
            set.activate_row(activation, got, n);
            scalar.activate_row(activation, want, n);
            report.expect(same_floats(), "activate_row: activation, n", which, n);
        }
        // A sweep, then every exponent but those whose halves are subnormal.
        for (std::uint32_t part = 0; part < 40; ++part) {
            for (std::uint32_t i = 0; i < kMax; ++i)
                x[i] = static_cast<float>(part * kMax + i) * (24.0f / (40 * kMax)) - 12.0f;
            start(kMax);
            set.activate_row(activation, got, kMax);
            scalar.activate_row(activation, want, kMax);
            report.expect(same_floats(), "activate_row, sweep: activation, part", which, part);
        }
        for (const std::uint32_t mantissa : {0u, 1u, 0x2AAAAAu, 0x555555u, 0x7FFFFFu}) {
            for (std::uint32_t exponent = 2; exponent < 0xFF; ++exponent) {
                x[2 * exponent] = from_bits(exponent << 23 | mantissa);
                x[2 * exponent + 1] = from_bits(0x80000000u | exponent << 23 | mantissa);
            }
            for (unsigned i = 0; i < 4; ++i)
                x[i] = 0.0f;
            start(510);
            set.activate_row(activation, got, 510);
            scalar.activate_row(activation, want, 510);
            report.expect(same_floats(), "activate_row, magnitudes: activation, mantissa", which, mantissa);
        }
    }
}

}  // namespace

void check_rows(const KernelSet& set, const KernelSet& scalar, Report& report) noexcept {
    const std::uint32_t lengths[] = {63, 64, 65, 79, 96, 100, 128, 221, 384, 512, 519};
    for (std::uint32_t i = 1; i <= 49 + sizeof lengths / sizeof *lengths; ++i) {
        const std::uint32_t n = i <= 49 ? i : lengths[i - 50];
        Random(n).fill(gamma, n, 1.5f, 0.5f);
        Random(n + 1).fill(beta, n);
        for (unsigned kind = 0; make_row(kind, n); ++kind)
            compare(set, scalar, n, kind, report);
        compare_softmax(set, scalar, n, report);
    }
    compare_activations(set, scalar, report);
}

}  // namespace checks
