// SPDX-License-Identifier: Apache-2.0
// Words by Moses' rules.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../segmenter.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "character_classes.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "moses_marks.hpp"
#include "moses_periods.hpp"
#include "moses_rules.hpp"
#include "moses_spaces.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Words, in which characters that XML has a meaning for are written as it does.
template <class Model>
class MosesWords {
  public:
    template <class Part>
    MosesWords(const Part&, Words<Model>& words) noexcept : words_(words) {}

    void put(const MosesCharacter& one) noexcept {
        if (one.has(MosesSegmenter::kWhiteSpace)) {
            words_.end();
            return;
        }
        const char* escaped = escape(one.unit.scalar);
        if (escaped == nullptr) words_.append(one.unit);
        for (; escaped != nullptr && *escaped != 0; ++escaped)
            words_.append(one.as(static_cast<std::uint8_t>(*escaped), 0).unit);
    }
    void end() noexcept { words_.end(); }

  private:
    static const char* escape(std::uint32_t scalar) noexcept {
        switch (scalar) {
            case '&':
                return "&amp;";
            case '|':
                return "&#124;";
            case '<':
                return "&lt;";
            case '>':
                return "&gt;";
            case '\'':
                return "&apos;";
            case '"':
                return "&quot;";
            case '[':
                return "&#91;";
            case ']':
                return "&#93;";
            default:
                return nullptr;
        }
    }

    Words<Model>& words_;
};

template <class Model>
class Segmenter<MosesSegmenter, Model> {
  public:
    Segmenter(const MosesSegmenter& part, Words<Model>& words) noexcept
        : classes_(part.classes), stages_(part, words) {}

    void take(const Unit& unit) noexcept { stages_.put({unit, classes_.class_of(unit.scalar)}); }
    void end() noexcept { stages_.end(); }

    template <class Reader>
    void read_ahead(Reader&, std::string_view, RawSplitter&, const TokenWriter&, std::uint32_t) noexcept {}

  private:
    using Last = MosesPeriods<MosesLastApostrophe<MosesRestoredRuns<MosesWords<Model>>>>;

    CharacterClassifier classes_;
    MosesSpaces<MosesRuns<typename MosesRulesFrom<EnglishMosesRules, 0, Last>::Type>> stages_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
