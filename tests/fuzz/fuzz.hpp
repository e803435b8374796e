// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share: an input read field by field, and a check that ends the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>

// Each target defines this; libFuzzer, or replay.cpp, calls it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace etch::fuzz {

// A broken promise. abort() is what libFuzzer takes for a crash, and it then writes the input to a file.
inline void check(bool holds, const char* promise) {
    if (!holds) {
        std::fprintf(stderr, "broken promise: %s\n", promise);
        std::abort();
    }
}

// Text in a block of its own exact size, so that the address sanitizer sees every read beyond either end.
class ExactText {
  public:
    explicit ExactText(std::string_view text) : size_(text.size()), bytes_(new char[text.size()]) {
        if (size_ != 0) {
            std::memcpy(bytes_.get(), text.data(), size_);
        }
    }
    std::string_view view() const { return {bytes_.get(), size_}; }

  private:
    std::size_t size_;
    std::unique_ptr<char[]> bytes_;
};

// Fields from the front of an input. Behind its end every byte is 0 and every text empty.
class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : rest_(reinterpret_cast<const char*>(data), size) {}

    bool empty() const { return rest_.empty(); }

    std::uint8_t byte() {
        if (rest_.empty()) {
            return 0;
        }
        const auto value = static_cast<std::uint8_t>(rest_.front());
        rest_.remove_prefix(1);
        return value;
    }

    // Up to the first `separator`, which is skipped; all of it where there is none.
    std::string_view until(std::string_view separator) {
        const std::size_t at = rest_.find(separator);
        const std::string_view text = rest_.substr(0, at);
        rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + separator.size());
        return text;
    }

    std::string_view rest() const { return rest_; }

  private:
    std::string_view rest_;
};

// Between two texts of one input: no UTF-8 holds it, so that mutations of a text rarely make one.
inline constexpr std::string_view kBetweenTexts = "\xFF\xFF";

}  // namespace etch::fuzz
