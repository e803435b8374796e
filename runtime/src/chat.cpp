// SPDX-License-Identifier: Apache-2.0
#include "etch/chat.hpp"

#include <cstring>

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// Python's str.isspace(), as UTF-8 has it.
constexpr std::string_view kWhiteSpace[] = {
    "\t",           "\n",           "\v",           "\f",           "\r",
    "\x1C",         "\x1D",         "\x1E",         "\x1F",         " ",
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81",
    "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86",
    "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8",
    "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80",
};

// Not by substr() and rfind(), which want the C++ library.
bool begins_with(std::string_view text, std::string_view what) noexcept {
    return text.size() >= what.size() && std::memcmp(text.data(), what.data(), what.size()) == 0;
}
bool ends_with(std::string_view text, std::string_view what) noexcept {
    return text.size() >= what.size() &&
           std::memcmp(text.data() + (text.size() - what.size()), what.data(), what.size()) == 0;
}

// Bytes of white space at the end, and at the beginning, 0 where there is none.
std::size_t white_space_behind(std::string_view text) noexcept {
    for (const std::string_view space : kWhiteSpace) {
        if (ends_with(text, space)) return space.size();
    }
    return 0;
}
std::size_t white_space_before(std::string_view text) noexcept {
    for (const std::string_view space : kWhiteSpace) {
        if (begins_with(text, space)) return space.size();
    }
    return 0;
}

std::string_view trimmed(std::string_view text, Trim trim) noexcept {
    if (trim == Trim::first_line_feeds) {
        while (!text.empty() && text.front() == '\n')
            text.remove_prefix(1);
    }
    if (trim == Trim::white_space) {
        while (const std::size_t bytes = white_space_before(text))
            text.remove_prefix(bytes);
        while (const std::size_t bytes = white_space_behind(text))
            text.remove_suffix(bytes);
    }
    return text;
}

std::string_view answer_of(const Chat& chat, std::string_view message) noexcept {
    for (std::string_view left = message; !chat.thinking_end.empty() && !left.empty(); left.remove_suffix(1)) {
        if (ends_with(left, chat.thinking_end)) {
            message.remove_prefix(left.size());
            message = trimmed(message, chat.trim_behind_thinking);
            break;
        }
    }
    return trimmed(message, chat.trim_answer);
}

class Writer {
  public:
    Writer(char* text, std::size_t capacity) noexcept : text_(text), capacity_(capacity) {}

    Writer& operator<<(std::string_view part) noexcept {
        const std::size_t room = size_ < capacity_ ? capacity_ - size_ : 0;
        const std::size_t bytes = part.size() < room ? part.size() : room;
        if (bytes > 0) std::memcpy(text_ + size_, part.data(), bytes);
        size_ += part.size();
        return *this;
    }
    std::size_t size() const noexcept { return size_; }

  private:
    char* text_;
    std::size_t capacity_;
    std::size_t size_ = 0;
};

}  // namespace

std::size_t chat_text(const Chat& chat, const std::string_view* system, TextList messages, std::size_t count,
                      char* text, std::size_t capacity) noexcept {
    if (!chat.exists() || count % 2 == 0 || (system != nullptr && !chat.takes_system)) return 0;
    Writer out(text, capacity);
    if (system == nullptr) {
        out << chat.before;
    } else {
        out << chat.before_system << trimmed(*system, chat.trim_system) << chat.behind_system;
    }
    out << trimmed(messages[0], chat.trim_user);
    for (std::size_t i = 1; i < count; i += 2) {
        out << chat.before_answer << answer_of(chat, messages[i]);
        out << chat.behind_answer << trimmed(messages[i + 1], chat.trim_user);
    }
    return (out << chat.ask).size();
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
