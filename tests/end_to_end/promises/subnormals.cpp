// SPDX-License-Identifier: Apache-2.0
// Subnormals never decide a bit of a quantized model: there are processors that flush them to zero whatever they are
// told. The generated source is compiled into this file, so that its forward pass can be given a runner that leaves the
// modes of its thread alone.
#include <cstdio>
#include <cstring>
#include <memory>

#include "etch/ops/op.hpp"
#include "float_modes.hpp"
#include "texts.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

class BareRunner {
  public:
    BareRunner(const OpContext& context, const Executor*, std::size_t) noexcept : context_(context) {}

    static Status status() noexcept { return Status::ok; }

    template <class Op>
    void operator()(const Op& op) const noexcept {
        op.run(context_, 0, op.units());
    }

  private:
    OpContext context_;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#define SharingRunner BareRunner
#include "agnews.cpp"  // NOLINT(bugprone-suspicious-include)

int main() {
    using namespace etch;
    using namespace promises;
    if (!float_bits_have_effect()) return 3;
    const auto owner = std::make_unique<agnews::Workspace>();
    int calls = 0;
    for (std::size_t kernel = 0; !agnews::usable_kernel(kernel).empty(); ++kernel) {
        if (agnews::select_kernel(*owner, agnews::usable_kernel(kernel)) != Status::ok) return 1;
        const auto same = [&](std::string_view text) {
            agnews::Result results[2];
            std::memset(static_cast<void*>(results), 0, sizeof results);
            for (const bool flush : {false, true}) {
                set_float_bits(flush ? kUsual | kFlush : kUsual);
                const Status status = agnews::classify(*owner, text, results[flush]);
                set_float_bits(kUsual);
                if (status != Status::ok) return false;
                ++calls;
            }
            return std::memcmp(&results[0], &results[1], sizeof results[0]) == 0;
        };
        for (const std::string_view text : kShortTexts) {
            if (!same(text)) return 1;
        }
        if (!same(kMiddleText)) return 1;
    }
    std::printf("%d calls: same bits\n", calls);
    return 0;
}
