// SPDX-License-Identifier: Apache-2.0
#include "etch/calls/self_test.hpp"

#include <cstring>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// CRC-32 of each 4-bit value (reflected polynomial 0xEDB88320): 64 bytes of table instead of 1 KB, two steps per byte.
constexpr std::uint32_t kCrcOfNibble[16] = {
    0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4, 0x4DB26158, 0x5005713C,
    0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C, 0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C,
};

std::uint32_t crc32(const std::uint8_t* data, std::size_t bytes) noexcept {
    std::uint32_t crc = 0xFFFFFFFFu;
    for (std::size_t i = 0; i < bytes; ++i) {
        crc ^= data[i];
        crc = (crc >> 4) ^ kCrcOfNibble[crc & 15];
        crc = (crc >> 4) ^ kCrcOfNibble[crc & 15];
    }
    return ~crc;
}

}  // namespace

bool tables_intact(const TableCheck* tables, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        if (crc32(static_cast<const std::uint8_t*>(tables[i].data), tables[i].bytes) != tables[i].crc) return false;
    }
    return true;
}

bool same_crc(const float* values, std::uint32_t n, std::uint32_t crc) noexcept {
    return crc32(reinterpret_cast<const std::uint8_t*>(values), n * sizeof(float)) == crc;
}

bool same_bits(const float* values, const std::uint32_t* bits, std::uint32_t n) noexcept {
    return std::memcmp(values, bits, n * sizeof(float)) == 0;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
