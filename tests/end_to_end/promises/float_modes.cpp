// SPDX-License-Identifier: Apache-2.0
// The processor's treatment of denormal numbers, which a host program may have changed, does not show in the bits.
#include <agnews.hpp>
#include <cstdio>
#include <cstring>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include "texts.hpp"

namespace {

using namespace etch;

#if defined(__SSE__)
constexpr unsigned kFlushToZero = 0x8000;
constexpr unsigned kDenormalsAreZero = 0x0040;
constexpr unsigned kModes[] = {0, kFlushToZero, kDenormalsAreZero, kFlushToZero | kDenormalsAreZero};
void set_mode(unsigned mode) {
    _mm_setcsr((_mm_getcsr() & ~(kFlushToZero | kDenormalsAreZero)) | mode);
}
#elif defined(__aarch64__)
constexpr unsigned kModes[] = {0, 1u << 24};  // FPCR.FZ: flush to zero, inputs and results
void set_mode(unsigned mode) {
    asm volatile("msr fpcr, %0" : : "r"(static_cast<unsigned long>(mode)));
}
#endif

agnews::Workspace workspace;

}  // namespace

int main() {
    // The mode must do something, or this test tests nothing.
    volatile float tiny = 1e-38f;
    volatile float product = 0.0f;
    set_mode(kModes[1]);
    product = tiny * 0.01f;
    set_mode(0);
    const bool flushed = product == 0.0f;
    product = tiny * 0.01f;
    if (!flushed || product == 0.0f) return 3;

    int calls = 0;
    for (std::size_t kernel = 0; !agnews::usable_kernel(kernel).empty(); ++kernel) {
        if (agnews::select_kernel(workspace, agnews::usable_kernel(kernel)) != Status::ok) return 1;
        const auto same_in_all_modes = [&](std::string_view text) {
            agnews::Result first{};
            for (const unsigned mode : kModes) {
                agnews::Result result{};
                set_mode(mode);
                const Status status = agnews::classify(workspace, text, result);
                set_mode(0);
                if (status != Status::ok) return false;
                if (mode == 0) first = result;
                ++calls;
                if (std::memcmp(first.logits, result.logits, sizeof result.logits) != 0 ||
                    std::memcmp(first.probability, result.probability, sizeof result.probability) != 0) {
                    std::printf("kernels %zu, mode %x: other bits\n", kernel, mode);
                    return false;
                }
            }
            return true;
        };
        for (const std::string_view text : promises::kShortTexts) {
            if (!same_in_all_modes(text)) return 1;
        }
        if (!same_in_all_modes(promises::kMiddleText)) return 1;
        if (kernel != 0) continue;
        set_mode(kModes[1]);
        const Status status = agnews::self_test(workspace);
        set_mode(0);
        if (status != Status::ok) return 1;
    }
    std::printf("%d calls: same bits\n", calls);
    return 0;
}
