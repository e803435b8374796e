// SPDX-License-Identifier: Apache-2.0
// Texts as a caller in another language hands them over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace etch::shared {

// Text i is data[offsets[i], offsets[i + 1]): the layout of Arrow's strings.
struct Texts {
    const char* data;
    const void* offsets;  // [count + 1] of int64 where `wide`, else of int32
    std::int32_t wide;

    std::int64_t offset(std::size_t index) const {
        return wide != 0 ? static_cast<const std::int64_t*>(offsets)[index]
                         : static_cast<const std::int32_t*>(offsets)[index];
    }

    std::string_view operator[](std::size_t index) const {
        return {data + offset(index), static_cast<std::size_t>(offset(index + 1) - offset(index))};
    }
};

}  // namespace etch::shared
