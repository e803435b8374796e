// SPDX-License-Identifier: Apache-2.0
// What FPSCR says of rounding and of subnormals gives way while a runner lives, and comes back.
#include "etch/float_mode.hpp"

#include "etch/ops/row_ops.hpp"
#include "values.hpp"

namespace checks {
namespace {

constexpr std::uint32_t kWidth = 48;
constexpr std::uint32_t kRows = 3;

struct Rows {
    float values[kRows * kWidth];
};

#if defined(__ARM_FP)

constexpr std::uint32_t kRounding = 3u << 22;

// Made before the mode is changed.
struct Input {
    Input() noexcept {
        Random random(7);
        random.fill(gamma, kWidth);
        random.fill(beta, kWidth);
        random.fill(rows.values, kRows * kWidth, 3.0f);
    }

    float gamma[kWidth];
    float beta[kWidth];
    Rows rows;
};

// One LayerNorm, through a runner or without.
Rows normalized(const etch::KernelSet& set, const Input& input, bool bare) noexcept {
    Rows rows = input.rows;
    const etch::LayerNormWeights weights{input.gamma, input.beta, 1e-12f, 1.0f / kWidth};
    const etch::LayerNorm op{weights, kRows, {rows.values, kWidth}};
    const etch::OpContext context{set, nullptr};
    if (bare) {
        op.run(context, 0, op.units());
    } else {
        etch::InlineRunner run(context);
        run(op);
    }
    return rows;
}

#endif

}  // namespace

void check_float_mode([[maybe_unused]] const etch::KernelSet& set, [[maybe_unused]] Report& report) noexcept {
#if defined(__ARM_FP)
    using etch::FloatControl;
    const std::uint32_t usual = FloatControl::read() & ~FloatControl::kBits;
    FloatControl::write(usual);
    const Input input;
    const Rows expected = normalized(set, input, false);
    bool rounds = false;
    for (std::uint32_t mode = 0; mode < 8; ++mode) {
        const std::uint32_t bits = (mode << 22) & FloatControl::kBits;
        FloatControl::write(usual | bits);
        const Rows found = normalized(set, input, false);
        const bool kept = (FloatControl::read() & FloatControl::kBits) == bits;
        const Rows bare = normalized(set, input, true);
        FloatControl::write(usual);
        report.expect(same_bits(&found, &expected, sizeof found), "float mode", mode);
        report.expect(kept, "float mode afterwards", mode);
        rounds = rounds || ((bits & kRounding) != 0 && !same_bits(&bare, &expected, sizeof bare));
    }
    report.expect(rounds, "the processor rounds as it is told");
#endif
}

}  // namespace checks
