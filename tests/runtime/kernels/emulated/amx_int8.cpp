// SPDX-License-Identifier: Apache-2.0
// The set amx_int8 compiled against intrinsics/, for CPUs without its instructions.
#define avx512_vnni avx512_vnni_emulated  // which lends to it
#define kAmxInt8 kAmxInt8Emulated
#define amx_int8_usable amx_int8_emulation_usable
#include "kernels/amx_int8/amx_int8.cpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

bool amx_int8_emulation_usable() noexcept {
    return true;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
