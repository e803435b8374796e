// SPDX-License-Identifier: Apache-2.0
// One normalized word while it is read, and where tokens go.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "etch/tokenizer.hpp"
#include "unicode/utf8.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Counts every token, keeps `room` of them behind those that were dropped.
struct TokenWriter {
    std::int32_t* ids;
    TokenOffset* offsets;  // may be null
    std::uint32_t room;
    std::uint32_t count = 0;
    bool cut_word = false;
    std::uint32_t dropped = 0;       // of the text's first tokens; the next one lies at 0
    std::uint8_t* begins = nullptr;  // may be null: 1 where a token is the first one of its word
    bool is_first = true;            // the next token is

    void begin_word() noexcept { is_first = true; }
    void write(std::int32_t id, std::uint32_t begin, std::uint32_t end) noexcept {
        const std::uint32_t at = count - dropped;
        if (at < room) {
            ids[at] = id;
            if (offsets != nullptr) offsets[at] = {begin, end};
            if (begins != nullptr) begins[at] = is_first ? 1 : 0;
        }
        is_first = false;
        if (count != UINT32_MAX) ++count;  // of a pair all are counted, and a byte may be three
    }
};

// A word of at most `max_chars` characters; of a longer one only its length and extent. Lives in the caller's scratch.
class Word {
  public:
    Word(void* scratch, std::uint32_t max_chars) noexcept
        : begins_(static_cast<std::uint32_t*>(scratch)),
          ends_(begins_ + max_chars),
          byte_ends_(reinterpret_cast<std::uint16_t*>(ends_ + max_chars)),
          bytes_(reinterpret_cast<std::uint8_t*>(byte_ends_ + max_chars)),
          max_chars_(max_chars) {}

    bool empty() const noexcept { return chars_ == 0; }
    bool too_long() const noexcept { return chars_ > max_chars_; }
    std::uint32_t chars() const noexcept { return chars_; }
    std::uint32_t size() const noexcept { return size_; }
    const std::uint8_t* bytes() const noexcept { return bytes_; }

    // Extent in the original text, and of single characters. Only the first max_chars characters have one.
    std::uint32_t begin() const noexcept { return begin_; }
    std::uint32_t end() const noexcept { return end_; }
    std::uint32_t char_begin(std::uint32_t i) const noexcept { return ascii_ ? begin_ + i : begins_[i]; }
    std::uint32_t char_end(std::uint32_t i) const noexcept { return ascii_ ? begin_ + i + 1 : ends_[i]; }
    std::uint32_t byte_end(std::uint32_t i) const noexcept { return ascii_ ? i + 1 : byte_ends_[i]; }
    std::uint32_t scalar(std::uint32_t i) const noexcept {
        return decode_known(bytes_ + (i == 0 ? 0 : byte_end(i - 1))).scalar;
    }
    // The character from `first` on whose bytes() end at `end`.
    std::uint32_t char_ending_at(std::uint32_t end, std::uint32_t first) const noexcept {
        if (ascii_) return end - 1;
        while (byte_ends_[first] < end)
            ++first;
        return first;
    }

    void clear() noexcept {
        chars_ = size_ = 0;
        ascii_ = true;
    }

    // Whether the next character may go on as append_ascii() does: so far it is ASCII, byte after byte of the original.
    bool continues_ascii(std::uint32_t scalar, std::uint32_t begin) const noexcept {
        return ascii_ && scalar < 0x80U && (chars_ == 0 || begin == end_);
    }
    // There must be room for it.
    void append_ascii(std::uint32_t scalar, std::uint32_t begin) noexcept {
        if (chars_ == 0) begin_ = begin;
        bytes_[size_++] = static_cast<std::uint8_t>(scalar);
        ++chars_;
        end_ = begin + 1;
    }

    // Where the next bytes go when a caller fills in ASCII by itself; at most max_chars in all.
    std::uint8_t* ascii_room() noexcept { return bytes_; }
    void set_ascii(std::uint32_t begin, std::uint32_t chars) noexcept {
        begin_ = begin;
        end_ = begin + chars;
        chars_ = chars;
        size_ = chars < max_chars_ ? chars : max_chars_;
    }

    // Of a word that is no longer than max_chars: makes it its first `chars` characters, more than none and fewer than
    // all; go_on_with() then makes it the others.
    struct Rest {
        std::uint32_t chars;
        std::uint32_t size;
        std::uint32_t end;
    };
    Rest cut(std::uint32_t chars) noexcept {
        const Rest whole{chars_, size_, end_};
        chars_ = chars;
        size_ = byte_end(chars - 1);
        end_ = char_end(chars - 1);
        return whole;
    }
    void go_on_with(const Rest& whole) noexcept {
        const std::uint32_t chars = whole.chars - chars_;
        const std::uint32_t size = whole.size - size_;
        begin_ = char_begin(chars_);
        if (!ascii_) {
            std::memmove(begins_, begins_ + chars_, chars * sizeof *begins_);
            std::memmove(ends_, ends_ + chars_, chars * sizeof *ends_);
            for (std::uint32_t i = 0; i < chars; ++i)
                byte_ends_[i] = static_cast<std::uint16_t>(byte_ends_[chars_ + i] - size_);
        }
        std::memmove(bytes_, bytes_ + size_, size);
        chars_ = chars;
        size_ = size;
        end_ = whole.end;
    }

    void append(std::uint32_t scalar, std::uint32_t begin, std::uint32_t end) noexcept {
        if (chars_ == 0) begin_ = begin;
        if (ascii_) leave_ascii();
        end_ = end;
        if (chars_ < max_chars_) {
            size_ += encode(scalar, bytes_ + size_);
            begins_[chars_] = begin;
            ends_[chars_] = end;
            byte_ends_[chars_] = static_cast<std::uint16_t>(size_);
        }
        if (chars_ <= max_chars_) ++chars_;
    }

    // The same of an ASCII character that nothing else became; there must be room for it.
    void append_one_byte(std::uint8_t byte, std::uint32_t begin) noexcept {
        if (chars_ == 0) begin_ = begin;
        if (ascii_) leave_ascii();
        end_ = begin + 1;
        bytes_[size_++] = byte;
        begins_[chars_] = begin;
        ends_[chars_] = begin + 1;
        byte_ends_[chars_++] = static_cast<std::uint16_t>(size_);
    }

  private:
    void leave_ascii() noexcept {
        for (std::uint32_t i = 0; i < size_; ++i) {
            begins_[i] = begin_ + i;
            ends_[i] = begin_ + i + 1;
            byte_ends_[i] = static_cast<std::uint16_t>(i + 1);
        }
        ascii_ = false;
    }

    std::uint32_t* begins_;
    std::uint32_t* ends_;
    std::uint16_t* byte_ends_;
    std::uint8_t* bytes_;
    std::uint32_t max_chars_;
    std::uint32_t chars_ = 0;  // stops at max_chars + 1
    std::uint32_t size_ = 0;
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
    bool ascii_ = true;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
