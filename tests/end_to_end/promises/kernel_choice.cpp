// SPDX-License-Identifier: Apache-2.0
// Kernels asked for by name: an unknown one and one that the CPU cannot run are errors and change nothing. Built with
// ETCH_PRETEND_NO_AVX2 the questions that AVX2 and AVX-512 depend on are answered here, with no: the archive's answers
// are then not linked.
#include <agnews.hpp>
#include <cstdio>

#include "etch/version.hpp"

#if defined(ETCH_PRETEND_NO_AVX2)
namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
bool sse2_usable() noexcept;
bool sse2_usable() noexcept {
    return true;
}
bool avx2_usable() noexcept;
bool avx2_usable() noexcept {
    return false;
}
bool avx_vnni_usable() noexcept;
bool avx_vnni_usable() noexcept {
    return false;
}
bool avx512_vnni_usable() noexcept;
bool avx512_vnni_usable() noexcept {
    return false;
}
bool avx512_vnni_halved_usable() noexcept;
bool avx512_vnni_halved_usable() noexcept {
    return false;
}
bool amx_int8_usable() noexcept;
bool amx_int8_usable() noexcept {
    return false;
}
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
#endif

namespace {

using namespace etch;

agnews::Workspace workspace;

int failures = 0;

void expect(bool condition, const char* what) {
    if (condition) return;
    std::printf("not so: %s\n", what);
    ++failures;
}

}  // namespace

int main() {
    expect(agnews::kernel(workspace) == agnews::usable_kernel(0), "without a choice the best usable kernels are taken");
    expect(agnews::select_kernel(workspace, "scalar") == Status::ok, "scalar is usable everywhere");
    expect(agnews::kernel(workspace) == "scalar", "the choice holds");
    for (const std::string_view unknown : {"", "scala", "scalar ", "SCALAR", "avx9", "rows"}) {
        expect(agnews::select_kernel(workspace, unknown) == Status::kernel_unknown, "unknown kernels are refused");
        expect(agnews::kernel(workspace) == "scalar", "a refusal changes nothing");
    }
    bool has_avx = false;
    std::size_t usable = 0;
    for (; !agnews::usable_kernel(usable).empty(); ++usable) {
        has_avx = has_avx || agnews::usable_kernel(usable).substr(0, 3) == "avx";
        expect(agnews::select_kernel(workspace, agnews::usable_kernel(usable)) == Status::ok, "listed is usable");
        expect(agnews::kernel(workspace) == agnews::usable_kernel(usable), "the choice holds");
    }
    expect(agnews::usable_kernel(usable + 1000000).empty(), "the list ends");
    expect(agnews::kernel(workspace) == "scalar", "scalar is the last of the list");
#if defined(ETCH_PRETEND_NO_AVX2)
    expect(!has_avx, "what is not usable is not listed");
    for (const std::string_view name : {"avx2", "avx_vnni", "avx512_vnni"}) {
        expect(agnews::select_kernel(workspace, name) == Status::kernel_not_usable,
               "not usable is an error of its own");
    }
    expect(agnews::kernel(workspace) == "scalar", "a refusal changes nothing");
#endif
    std::printf("%zu kernels usable\n", usable);
    return failures == 0 ? 0 : 1;
}
