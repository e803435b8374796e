// SPDX-License-Identifier: Apache-2.0
// What the generated self tests share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

struct TableCheck {
    const void* data;
    std::size_t bytes;
    std::uint32_t crc;  // CRC-32 of ISO 3309, as in zlib
};

// True where the CRC of every table is the recorded one.
bool tables_intact(const TableCheck* tables, std::size_t count) noexcept;

// True where n floats have exactly these bits.
bool same_bits(const float* values, const std::uint32_t* bits, std::uint32_t n) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
