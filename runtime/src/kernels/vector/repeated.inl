// SPDX-License-Identifier: Apache-2.0
// A panel's constants where a product has none. Included inside the namespace of each kernel set.

struct Repeated {
    float values[16];
    constexpr explicit Repeated(float value) noexcept : values() {
        for (float& each : values)
            each = value;
    }
};
constexpr Repeated kZeros(0.0f);
constexpr Repeated kOnes(1.0f);
