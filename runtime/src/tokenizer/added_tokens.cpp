// SPDX-License-Identifier: Apache-2.0
#include "added_tokens.hpp"

#include "bytes16.hpp"
#include "unicode/unicode.hpp"
#include "unicode/utf8.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {
namespace {

constexpr std::uint32_t kWindow = 256;  // bytes searched at a time

}  // namespace

std::uint32_t ContentSearch::lower_bound(int byte) const noexcept {
    std::uint32_t low = low_;
    std::uint32_t high = high_;
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (next_byte(middle) < byte) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

bool ContentSearch::step(std::uint8_t byte) noexcept {
    // The ends of the range decide most steps: all contents go on alike, or none does.
    const int first = next_byte(low_);
    const int last = next_byte(high_ - 1);
    if (byte < first || byte > last) {
        high_ = low_;
    } else if (first != last) {
        const std::uint32_t low = lower_bound(byte);
        high_ = lower_bound(byte + 1);
        low_ = low;
    }
    ++depth_;
    return low_ < high_;
}

RawSplitter::RawSplitter(const AddedTokens& tokens, std::string_view text, SpecialTokens mode) noexcept
    : tokens_(tokens), text_(text), mode_(mode) {}

bool RawSplitter::take(TokenMatch& match) noexcept {
    if (!found_) return false;
    match = match_;
    segment_begin_ = clear_ = match_.end;
    closed_ = found_ = false;
    return true;
}

// The first byte from `at` on with which a token can begin; `stop` or more if there is none before it.
std::uint32_t RawSplitter::first_that_can_begin(std::uint32_t at, std::uint32_t stop) const noexcept {
    if (at >= stop) return at;  // a token that was stepped over ends behind it
    if (tokens_.count == 0) return stop;
#if defined(__SSE2__)
    // Contents are sorted, so none begins with a byte below that of the first one, or above that of the last one.
    const std::uint8_t lowest = tokens_.text[tokens_.begins[0]];
    const std::uint8_t highest = tokens_.text[tokens_.begins[tokens_.count - 1]];
    while (stop - at >= 16 && Bytes16(text_.data() + at).between(lowest, highest) == 0)
        at += 16;
#endif
    while (at < stop && !can_begin(tokens_, static_cast<std::uint8_t>(text_[at])))
        ++at;
    return at;
}

void RawSplitter::look_ahead() noexcept {
    const auto size = static_cast<std::uint32_t>(text_.size());
    std::uint32_t stop = size - search_ < kWindow ? size : search_ + kWindow;
    for (;;) {
        while ((search_ = first_that_can_begin(search_, stop)) < stop) {
            if (match_at_search()) return;
        }
        if (search_ >= size) break;
        if (search_ >= segment_begin_ && !must_look_further()) {
            clear_ = search_;
            return;
        }
        stop = search_ + 1;
    }
    clear_ = size;
    closed_ = true;
}

// The reader may pass clear_ only by whole characters, and white space only once it is known that no token that strips
// on the left follows it.
bool RawSplitter::must_look_further() const noexcept {
    if ((static_cast<unsigned char>(text_[search_]) & 0xC0U) == 0x80U) return true;
    return search_ > segment_begin_ && is_white_space(decode_before(text_, search_).scalar);
}

// Looks for a token at search_ and moves search_ on when there is none. A token found but not wanted is stepped over as
// a whole: nothing is looked for inside it, not even a shorter token.
bool RawSplitter::match_at_search() noexcept {
    const auto size = static_cast<std::uint32_t>(text_.size());
    const std::uint32_t begin = search_;
    std::uint32_t token = kNoToken;
    std::uint32_t end = begin;
    ContentSearch contents(tokens_);
    for (std::uint32_t at = begin; at < size && contents.step(static_cast<std::uint8_t>(text_[at]));) {
        ++at;
        if (contents.complete() != kNoToken) {
            token = contents.complete();
            end = at;
        }
    }
    if (token == kNoToken) {
        ++search_;
        return false;
    }
    const std::uint8_t flags = tokens_.flags[token];
    search_ = end;  // a token may begin in the white space behind it
    if ((flags & AddedTokens::kSpecial) != 0 && mode_ == SpecialTokens::plain_text) return false;
    if ((flags & AddedTokens::kSingleWord) != 0 && touches_word(begin, end)) return false;
    match_ = {tokens_.ids[token], begin, end, 0, 0, flags};
    if ((flags & AddedTokens::kLeftStrip) != 0) {
        while (match_.begin > segment_begin_) {
            const Decoded before = decode_before(text_, match_.begin);
            if (!is_white_space(before.scalar)) break;
            match_.begin -= before.size;
            ++match_.spaces_before;
        }
    }
    if ((flags & AddedTokens::kRightStrip) != 0) {
        while (match_.end < size) {
            const Decoded after = decode(text_, match_.end);
            if (!is_white_space(after.scalar)) break;
            match_.end += after.size;
            ++match_.spaces_after;
        }
    }
    found_ = closed_ = true;
    clear_ = match_.begin;
    return true;
}

bool RawSplitter::touches_word(std::uint32_t begin, std::uint32_t end) const noexcept {
    return (begin > 0 && is_word(decode_before(text_, begin).scalar)) ||
           (end < text_.size() && is_word(decode(text_, end).scalar));
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
