// SPDX-License-Identifier: Apache-2.0
// A model that only writes down the words it is given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/cursor.hpp"
#include "tokenizer/segmenter.hpp"
#include "tokenizer/unicode/utf8.hpp"
#include "tokenizer/words.hpp"

namespace recorded {

// A model without pieces.
struct Model {};

}  // namespace recorded

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Each word as `text@begin-end`.
template <>
class Words<recorded::Model> {
  public:
    bool empty() const noexcept { return units_.empty(); }
    bool one_more_is_certain() const noexcept { return false; }
    void append(const Unit& unit) noexcept {
        if (units_.size() == kMost) end();
        units_.push_back(unit);
    }
    void end() noexcept { end_front(chars()); }

    std::uint32_t chars() const noexcept { return static_cast<std::uint32_t>(units_.size()); }
    std::uint32_t scalar(std::uint32_t i) const noexcept { return units_[i].scalar; }
    void end_front(std::uint32_t chars) noexcept {
        if (chars == 0) return;
        std::string word;
        for (std::uint32_t i = 0; i < chars; ++i) {
            std::uint8_t bytes[kMaxUtf8Bytes];
            word.append(bytes, bytes + encode(units_[i].scalar, bytes));
        }
        found.push_back(word + "@" + std::to_string(units_[0].begin) + "-" + std::to_string(units_[chars - 1].end));
        units_.erase(units_.begin(), units_.begin() + chars);
    }

    static constexpr std::size_t kMost = 12;  // longer words are cut
    std::vector<std::string> found;

  private:
    std::vector<Unit> units_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

namespace recorded {

using Found = std::vector<std::string>;
using Recorder = etch::tokenizer::Words<Model>;

template <class Part>
void read(etch::tokenizer::Segmenter<Part, Model>& segmenter, std::string_view text) {
    for (std::uint32_t at = 0; at < text.size();) {
        const etch::tokenizer::Decoded decoded = etch::tokenizer::decode(text, at);
        segmenter.take({decoded.scalar, at, at + decoded.size, 0});
        at += decoded.size;
    }
    segmenter.end();
}

template <class Part>
Found words(const Part& part, std::string_view text) {
    Recorder recorder;
    etch::tokenizer::Segmenter<Part, Model> segmenter(part, recorder);
    read(segmenter, text);
    return recorder.found;
}

}  // namespace recorded
