// SPDX-License-Identifier: Apache-2.0
// The set avx512_vnni compiled against intrinsics/immintrin.h, for CPUs without its instructions.
#define avx512_vnni avx512_vnni_emulated
#define kAvx512Vnni kAvx512VnniEmulated
#define kAvx512VnniHalved kAvx512VnniHalvedEmulated
#define avx512_vnni_usable avx512_vnni_emulation_usable
#define avx512_vnni_halved_usable avx512_vnni_halved_emulation_usable
#include "kernels/avx512_vnni/avx512_vnni.cpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

bool avx512_vnni_emulation_usable() noexcept {
    return true;
}

bool avx512_vnni_halved_emulation_usable() noexcept {
    return true;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
