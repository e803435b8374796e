// SPDX-License-Identifier: Apache-2.0
// Words by Moses' rules behind its normalization of punctuation.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../segmenter.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "moses_commas.hpp"
#include "moses_kinds.hpp"
#include "moses_lowercase.hpp"
#include "moses_marks.hpp"
#include "moses_periods.hpp"
#include "moses_punctuation.hpp"
#include "moses_rules.hpp"
#include "moses_segmenter.hpp"
#include "moses_spaces.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// The kinds of normalized characters, without those that are dropped.
template <class Next>
class MosesWithoutControl {
  public:
    template <class Part, class... Arguments>
    explicit MosesWithoutControl(const Part& part, Arguments&... arguments) noexcept
        : kinds_(part), next_(part, arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        const std::uint32_t kinds = kinds_.of(one.unit.scalar);
        if ((kinds & NormalizedMosesSegmenter<MosesLanguage::english>::kControl) == 0) next_.put({one.unit, kinds});
    }
    void end() noexcept { next_.end(); }

  private:
    MosesKinds kinds_;
    Next next_;
};

// Words as they are.
template <class Model>
class PlainMosesWords {
  public:
    template <class Part>
    PlainMosesWords(const Part&, Words<Model>& words) noexcept : words_(words) {}

    void put(const MosesCharacter& one) noexcept {
        if (one.has(MosesSegmenter::kWhiteSpace)) {
            words_.end();
        } else {
            words_.append(one.unit);
        }
    }
    void end() noexcept { words_.end(); }

  private:
    Words<Model>& words_;
};

// What differs by language.
template <MosesLanguage kLanguage>
struct MosesLanguages;
template <>
struct MosesLanguages<MosesLanguage::english> {
    using Rules = EnglishMosesRules;
    template <class Next>
    using Commas = MosesEnglishCommas<MosesNumbers<'.', Next>>;
};
template <>
struct MosesLanguages<MosesLanguage::french> {
    using Rules = FrenchMosesRules;
    template <class Next>
    using Commas = MosesFrenchCommas<MosesFrenchPeriods<MosesNumbers<',', Next>>>;
};
template <>
struct MosesLanguages<MosesLanguage::german> {
    using Rules = CommonMosesRules;
    template <class Next>
    using Commas = MosesLanguages<MosesLanguage::french>::Commas<Next>;
};
template <>
struct MosesLanguages<MosesLanguage::russian> {
    using Rules = CommonMosesRules;
    template <class Next>
    using Commas = MosesNumbers<'.', Next>;
};

// And by the class that is of it: FlaubertTokenizer joins quotation marks first and has lower case of a text, as
// FSMTTokenizer has, XLMTokenizer of its words.
template <MosesLanguage kLanguage, bool kEscapes>
struct MosesClasses {
    static constexpr std::uint32_t kFirstRule = 0;
    template <class Next>
    using Text = MosesLowercase<Next>;
    template <class Model>
    using Written = MosesWords<Model>;
};
template <>
struct MosesClasses<MosesLanguage::english, false> {
    static constexpr std::uint32_t kFirstRule = 1;  // behind that of dashes
    template <class Next>
    using Text = Next;
    template <class Model>
    using Written = MosesLowercase<PlainMosesWords<Model>>;
};
template <>
struct MosesClasses<MosesLanguage::french, false> {
    static constexpr std::uint32_t kFirstRule = 1;
    template <class Next>
    using Text = MosesJoinedQuotes<MosesLowercase<Next>>;
    template <class Model>
    using Written = PlainMosesWords<Model>;
};

template <MosesLanguage kLanguage, bool kEscapes, class Model>
class Segmenter<NormalizedMosesSegmenter<kLanguage, kEscapes>, Model> {
  public:
    using Part = NormalizedMosesSegmenter<kLanguage, kEscapes>;

    Segmenter(const Part& part, Words<Model>& words) noexcept : kinds_(part), stages_(part, words) {}

    void take(const Unit& unit) noexcept { stages_.put({unit, kinds_.of(unit.scalar)}); }
    void end() noexcept { stages_.end(); }

    template <class Reader>
    void read_ahead(Reader&, std::string_view, RawSplitter&, const TokenWriter&, std::uint32_t) noexcept {}

  private:
    using Language = MosesLanguages<kLanguage>;
    using Class = MosesClasses<kLanguage, kEscapes>;
    using Written = typename Class::template Written<Model>;
    using Last = MosesPeriods<MosesLastApostrophe<MosesRestoredRuns<Written>>>;
    using Rules = typename MosesRulesFrom<typename Language::Rules, Class::kFirstRule, Last>::Type;
    using Moses = MosesSpaces<MosesRuns<Rules>>;
    using Commas = typename Language::template Commas<MosesWithoutControl<Moses>>;
    using Quotes = MosesQuotePairs<true, MosesDashes<MosesQuotePairs<false, MosesAngleQuotes<Commas>>>>;

    MosesKinds kinds_;
    typename Class::template Text<MosesReplaced<Quotes>> stages_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
