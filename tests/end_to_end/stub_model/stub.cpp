// SPDX-License-Identifier: Apache-2.0
// The label of a text is the number that the text begins with, 0 if none; a second text's number is the count of
// tokens. A text "fail" is refused.
#include "stub.hpp"

namespace etch {
namespace stub {
namespace {

constexpr std::int32_t kFirst = 1;
constexpr std::int32_t kWord = 3;
constexpr std::int32_t kLast = 2;

std::uint32_t leading_number(std::string_view text) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
        value = value * 10 + static_cast<std::uint32_t>(text[i] - '0');
    }
    return value % kLabelCount;
}

bool space(char c) {
    return static_cast<unsigned char>(c) <= 0x20;
}

}  // namespace

Status encode(Workspace&, std::string_view text, Encoding& encoding) noexcept {
    encoding.truncated = false;
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

Status classify(Workspace& workspace, std::string_view text, Result& result) noexcept {
    if (text == "fail") {
        return Status::text_too_long;
    }
    Encoding encoding;
    encode(workspace, text, encoding);
    classify_tokens(workspace, encoding.ids, nullptr, encoding.count, result);
    result.label = leading_number(text);
    result.logits[result.label] = 1e-7F;
    result.probability[result.label] = 0.999999881F;
    result.truncated = encoding.truncated;
    return Status::ok;
}

Status classify_tokens(Workspace&, const std::int32_t*, const std::uint8_t*, std::uint32_t count,
                       Result& result) noexcept {
    for (std::uint32_t i = 0; i < kLabelCount; ++i) {
        result.logits[i] = -0.1F;
        result.probability[i] = 0.0F;
    }
    result.label = 0;
    result.tokens = count;
    result.truncated = false;
    return Status::ok;
}

Status classify_pair(Workspace& workspace, std::string_view first, std::string_view second, Result& result) noexcept {
    if (!kPairs) {
        return Status::pair_not_supported;
    }
    const Status status = classify(workspace, first, result);
    result.tokens = leading_number(second);
    return status;
}

Status encode_pair(Workspace&, std::string_view, std::string_view, Encoding&) noexcept {
    return Status::pair_not_supported;
}

std::string_view piece(std::int32_t id) noexcept {
    return id == kWord ? std::string_view("\xff\"\0", 3) : std::string_view();
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
