// SPDX-License-Identifier: Apache-2.0
// Tables of normalizers for a few characters, as the generator lays them out: three stages, then texts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "etch/tokenizer/normalizers.hpp"

namespace tokenizer_tables {

// By character a number, 0 for all that are not set.
class Stages {
  public:
    void set(std::uint32_t scalar, std::uint16_t value) {
        std::uint8_t& block = top_[scalar >> 8];
        if (block == 0) {
            block = static_cast<std::uint8_t>(middle_.size() / 16);
            middle_.resize(middle_.size() + 16);
        }
        const std::size_t middle = block * 16U + (scalar >> 4 & 15);
        if (middle_[middle] == 0) {
            middle_[middle] = static_cast<std::uint16_t>(leaves_.size() / 16);
            leaves_.resize(leaves_.size() + 16);
        }
        leaves_[middle_[middle] * 16U + (scalar & 15)] = value;
    }
    const std::uint8_t* top() const { return top_.data(); }
    const std::uint16_t* middle() const { return middle_.data(); }
    const std::uint16_t* leaves() const { return leaves_.data(); }

  private:
    std::vector<std::uint8_t> top_ = std::vector<std::uint8_t>(0x110000 >> 8);
    std::vector<std::uint16_t> middle_ = std::vector<std::uint16_t>(16);
    std::vector<std::uint16_t> leaves_ = std::vector<std::uint16_t>(16);
};

// Texts up to a zero each, as what characters become; none begins at 0.
class Texts {
  public:
    std::uint32_t add(const std::string& text) {
        const auto at = static_cast<std::uint32_t>(bytes_.size());
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        bytes_.push_back(0);
        return at;
    }
    const std::uint8_t* data() const { return bytes_.data(); }

  private:
    std::vector<std::uint8_t> bytes_ = {0};
};

class FoldingTables {
  public:
    explicit FoldingTables(const std::vector<std::pair<std::uint32_t, std::string>>& become) {
        for (const auto& [scalar, text] : become)
            stages_.set(scalar, static_cast<std::uint16_t>(texts_.add(text)));
    }
    etch::Folding folding() const {
        return {stages_.top(), stages_.middle(), stages_.leaves(), texts_.data(), false, false};
    }

  private:
    Stages stages_;
    Texts texts_;
};

// A decomposed form. Of a character: its place in canonical order, what it becomes ("": it stays).
class FormTables {
  public:
    struct Entry {
        std::uint32_t scalar;
        std::uint32_t rank;
        std::string text;
    };
    explicit FormTables(const std::vector<Entry>& entries) {
        for (const Entry& entry : entries) {
            stages_.set(entry.scalar, static_cast<std::uint16_t>(entries_.size()));
            const std::uint32_t at = entry.text.empty() ? 0 : texts_.add(entry.text);
            entries_.push_back(entry.rank | at << etch::NormalForm::kTextShift);
        }
    }
    etch::NormalForm form() const {
        return {stages_.top(), stages_.middle(), stages_.leaves(), entries_.data(), texts_.data(), nullptr, 0, false};
    }

  private:
    Stages stages_;
    Texts texts_;
    std::vector<std::uint32_t> entries_ = {0};
};

}  // namespace tokenizer_tables
