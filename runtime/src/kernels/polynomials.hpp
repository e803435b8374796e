// SPDX-License-Identifier: Apache-2.0
// Constants of exp2, log2, erf, the reciprocal, sigmoid, tanh and the activations, and the sequence of operations that
// uses them. Every kernel set and codegen's emulator evaluates exactly these sequences: each line is one or more IEEE
// binary32 operations, round to nearest even, in the order that parentheses and Horner's rule give, none fused and
// none a division. tools/polynomials/fit.py fits the constants and measures the errors stated here (float32 sequence
// against double precision, 2,000,001 points per interval).
//
// horner(c, x) with coefficients c[0] .. c[d]: r = c[d]; then for i = d - 1 down to 0: r = r * x + c[i]
// (a multiplication, rounded, then an addition, rounded).
//
// exp2(x), x <= 0. Largest relative error 1.9e-7, absolute 1.4e-7; exactly 1 at 0.
//     if x < -64: +0.0f (also for -infinity), else
//     t = x + kShifter                           its low bits are n = round to nearest even (x)
//     f = x - (t - kShifter)                     in [-1/2, 1/2], exact
//     p = horner(kExp2, f)
//     result = float with the bits  bits(p) + (bits(t) << 23)  in uint32 arithmetic: adds n to the exponent
//
// log2(y), 1 <= y < 2^127. Largest absolute error 1.2e-7 up to 2, 1.1e-6 up to 2^31 (a sum of so many powers), 2.0e-6
// up to 2^58 (a sum of 2^18 weights), 3.9e-6 up to 2^127; exactly 0 at 1.
//     n = (bits(y) - bits(kSqrtHalf)) >> 23      in int32 arithmetic
//     f = (float with the bits  bits(y) - (n << 23)) - 1.0f
//     result = float(n) + (f * horner(kLog2, f))
//
// erf(x). Largest absolute error 1.9e-7; exactly 0 at 0 and exactly 1 from kErfLimit on.
//     a = |x|
//     z = a < kErfLimit ? a : kErfLimit
//     e = exp2(z * horner(kErf, z))              erfc(z); the argument lies in [-26, 0]
//     result = (1.0f - e) with the sign bit of x
//
// reciprocal(y), 1 <= y <= 2. Largest absolute error 1.3e-7.
//     r = horner(kReciprocal, y)
//     r = r * (2.0f - y * r)                     Newton, twice
//     r = r * (2.0f - y * r)
//
// sigmoid(x). Largest absolute error 1.9e-7.
//     e = exp2(|x| * kMinusLog2E)
//     r = reciprocal(1.0f + e)
//     result = x < 0 ? e * r : r
//
// tanh(x). Largest absolute error 1.9e-7; exactly 0 at 0.
//     e = exp2(|x| * kMinusTwoLog2E)
//     r = reciprocal(1.0f + e)
//     result = ((1.0f - e) * r) with the sign bit of x
//
// Activations (largest absolute error on [-12, 12], rounding of a result near 12 included):
//     relu(x)       = x > 0.0f ? x : +0.0f
//     gelu(x)       = (x * 0.5f) * (1.0f + erf(x * kSqrtHalf))                     5.8e-7
//     gelu_tanh(x)  = x * sigmoid(x * (kGeluTanh1 + kGeluTanh3 * (x * x)))         7.3e-7, to the tanh form
//     quick_gelu(x) = x * sigmoid(kQuickGelu * x)                                  1.2e-6
//     silu(x)       = x * sigmoid(x)                                               2.0e-6
//     xielu(x), an op of its own (etch/ops/row_ops.hpp), whose square and power were 0.8, linear 0.5, most -1e-6:
//         x > 0: ((x * square) * x) + (x * linear)                                 1.3e-5, of up to 121
//         else: (((exp2(min(x, most) * kLog2E) - 1.0f) - x) * power) + (x * linear)    8.6e-7
#pragma once

#include "device.hpp"
#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace polynomials {

// Internal linkage on purpose (no `inline`): these are compiled into translation units of several instruction sets.
constexpr float kShifter = 0x1.8p23f;

constexpr float kExp2Least = -64.0f;
ETCH_DEVICE constexpr float kExp2[] = {
    0x1p0f, 0x1.62e42ap-1f, 0x1.ebf9bcp-3f, 0x1.c6b752p-5f, 0x1.3cea88p-7f, 0x1.5bba14p-10f,
};

ETCH_DEVICE constexpr float kLog2[] = {
    0x1.715472p0f,  -0x1.7155bap-1f, 0x1.ec7b64p-2f, -0x1.70bab4p-2f,
    0x1.2596a4p-2f, -0x1.001218p-2f, 0x1.e526cap-3f, -0x1.2a7c18p-3f,
};

constexpr float kErfLimit = 4.0f;
ETCH_DEVICE constexpr float kErf[] = {
    -0x1.a0bef4p0f,  -0x1.d62f2cp-1f,  -0x1.3113dcp-3f, 0x1.e28cbap-6f,
    -0x1.2dc1d8p-9f, -0x1.e3ffb4p-12f, 0x1.a45c12p-14f,
};

ETCH_DEVICE constexpr float kReciprocal[] = {0x1.0f83ep1f, -0x1.745d18p0f, 0x1.4afd6ap-2f};

constexpr float kLog2E = 0x1.715476p0f;           // log2(e)
constexpr float kMinusLog2E = -0x1.715476p0f;     // -log2(e)
constexpr float kMinusTwoLog2E = -0x1.715476p1f;  // -2 log2(e)

constexpr float kLn2 = 0x1.62e43p-1f;  // ln(2)

constexpr float kSqrtHalf = 0x1.6a09e6p-1f;   // 1 / sqrt(2)
constexpr float kGeluTanh1 = 0x1.988454p0f;   // 2 sqrt(2 / pi)
constexpr float kGeluTanh3 = 0x1.2444f2p-4f;  // 2 sqrt(2 / pi) 0.044715
constexpr float kQuickGelu = 0x1.b3b646p0f;   // 1.702

// Not a polynomial, but shared in the same way.
constexpr float kInverse127 = 0x1.020408p-7f;  // 1 / 127
constexpr float kLeastMaximum = 0x1p-40f;      // rows whose maximum is below this are quantized to 0

}  // namespace polynomials
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
