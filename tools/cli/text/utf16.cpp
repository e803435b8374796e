// SPDX-License-Identifier: Apache-2.0
#include "utf16.hpp"

#include <cstddef>

#include "utf8.hpp"

namespace etch::cli {
namespace {

constexpr std::size_t kLookedAt = 4096;

bool begins_with(std::string_view text, std::string_view mark) {
    return text.substr(0, mark.size()) == mark;
}

// Whether it is the beginning of UTF-8; the last character may be cut.
bool is_utf8(std::string_view text) {
    text.remove_prefix(tokenizer::well_formed_size(text));
    return text.empty() || (tokenizer::lead(static_cast<unsigned char>(text[0])).size > text.size() &&
                            tokenizer::decode(text, 0).size == text.size());
}

}  // namespace

bool is_utf16(std::string_view begin) {
    using namespace std::string_view_literals;
    begin = begin.substr(0, kLookedAt);
    if (begins_with(begin, "\xFF\xFE"sv) || begins_with(begin, "\xFE\xFF"sv) || begins_with(begin, "\0\0\xFE\xFF"sv)) {
        return true;
    }
    std::size_t zeros[2] = {};  // at even and at odd places
    std::size_t feeds = 0;
    for (std::size_t i = 0; i < begin.size(); ++i) {
        zeros[i % 2] += begin[i] == '\0' ? 1U : 0U;
        feeds += begin[i] == '\n' ? 1U : 0U;
    }
    const std::size_t all = zeros[0] + zeros[1];
    if (begin.size() < 4 || all == 0) {
        return false;
    }
    if (2 * all >= begin.size()) {
        return true;
    }
    if (zeros[0] != 0 && zeros[1] != 0) {
        return false;
    }
    const std::size_t low = zeros[0] != 0 ? 1 : 0;  // where the low bytes are
    for (std::size_t i = 0; i < begin.size(); ++i) {
        const std::size_t other = i ^ 1U;
        if (begin[i] == '\n' && (i % 2 != low || other >= begin.size() || begin[other] != '\0')) {
            return false;
        }
    }
    return 4 * all >= begin.size() || (feeds != 0 && !is_utf8(begin));
}

}  // namespace etch::cli
