// SPDX-License-Identifier: Apache-2.0
#include "stub.hpp"

namespace etch {
namespace stub {
namespace {

constexpr std::int32_t kFirst = 1;
constexpr std::int32_t kWord = 3;
constexpr std::int32_t kLast = 2;

bool space(char c) {
    return static_cast<unsigned char>(c) <= 0x20;
}

}  // namespace

std::uint32_t leading_number(std::string_view text) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
        value = value * 10 + static_cast<std::uint32_t>(text[i] - '0');
    }
    return value;
}

void read_numbers(std::string_view text, float* numbers, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
        while (!text.empty() && space(text[0])) {
            text.remove_prefix(1);
        }
        const bool negative = !text.empty() && text[0] == '-';
        double value = 0;
        double digit = 1;  // its weight; 1 before the point
        for (text.remove_prefix(negative ? 1 : 0); !text.empty() && !space(text[0]); text.remove_prefix(1)) {
            if (text[0] == '.') {
                digit = 0.1;
            } else if (text[0] >= '0' && text[0] <= '9') {
                value = digit == 1 ? value * 10 + (text[0] - '0') : value + digit * (text[0] - '0');
                digit = digit == 1 ? 1 : digit / 10;
            }
        }
        numbers[i] = static_cast<float>(negative ? -value : value);
    }
}

Status encode(Workspace&, std::string_view text, Encoding& encoding) noexcept {
    encoding.truncated = encoding.cut_word = false;
    encoding.count = 0;
    encoding.ids[encoding.count] = kFirst;
    encoding.offsets[encoding.count++] = {0, 0};
    for (std::size_t i = 0; i < text.size();) {
        const std::size_t begin = i;
        while (i < text.size() && !space(text[i])) {
            ++i;
        }
        if (i == begin) {
            ++i;
        } else if (encoding.count + 1 < kMaxTokens) {
            encoding.ids[encoding.count] = kWord;
            encoding.offsets[encoding.count++] = {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(i)};
        } else {
            encoding.truncated = true;
        }
    }
    encoding.ids[encoding.count] = kLast;
    encoding.offsets[encoding.count++] = {0, 0};
    return Status::ok;
}

Status encode_pair(Workspace&, std::string_view, std::string_view, Encoding&) noexcept {
    return Status::pair_not_supported;
}

std::size_t piece(std::int32_t id, char* text, std::size_t capacity) noexcept {
    return id == kWord ? std::string_view("\xff\"\0", 3).copy(text, capacity < 3 ? capacity : 3), 3 : 0;
}

Status select_kernel(Workspace&, std::string_view name) noexcept {
    return name == "fast" || name == "scalar" ? Status::ok
           : name == "other"                  ? Status::kernel_not_usable
                                              : Status::kernel_unknown;
}

std::string_view kernel(Workspace&) noexcept {
    return "fast";
}

std::string_view usable_kernel(std::size_t index) noexcept {
    return index == 0 ? "fast" : index == 1 ? "scalar" : std::string_view();
}

Status self_test(Workspace&) noexcept {
    return Status::golden_mismatch;
}

}  // namespace stub
}  // namespace etch
