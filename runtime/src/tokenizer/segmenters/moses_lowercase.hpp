// SPDX-License-Identifier: Apache-2.0
// Lower case as Python's str.lower() has it: each character by itself, but for the sigma that ends a word.
#pragma once

#include <cstdint>

#include "../normalizers/folding.hpp"
#include "../unicode/unicode.hpp"
#include "../unicode/utf8.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "moses_kinds.hpp"
#include "moses_marks.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// A capital sigma ends a word behind a cased character and where none follows; characters that case ignores may stand
// between, of which it waits for a few: behind more it is taken for the end.
template <class Next>
class MosesLowercase {
  public:
    template <class Part, class... Arguments>
    explicit MosesLowercase(const Part& part, Arguments&... arguments) noexcept
        : folding_(part.folding), kinds_(part), next_(part, arguments...) {}

    void put(const MosesCharacter& one) noexcept {
        if (folding_.top == nullptr) {
            next_.put(one);
            return;
        }
        const std::uint32_t kinds = kinds_.of(one.unit.scalar);
        const bool is_ignored = (kinds & kIgnorable) != 0;
        const bool is_cased = !is_ignored && (kinds & kCased) != 0;
        if (has_sigma_ && is_ignored && held_ < kMostHeld) {
            if (!vanishes(one.unit.scalar)) ignored_[held_++] = one.unit.scalar;
            sigma_.unit.end = one.unit.end;
            return;
        }
        leave(!is_cased);
        if (one.unit.scalar == kCapitalSigma && is_cased_) {
            sigma_ = one;
            has_sigma_ = true;
        } else {
            fold(one);
        }
        if (!is_ignored) is_cased_ = is_cased;
    }
    void end() noexcept {
        leave(true);
        is_cased_ = false;
        next_.end();
    }

  private:
    static constexpr std::uint32_t kCased = NormalizedMosesSegmenter<MosesLanguage::english>::kCased;
    static constexpr std::uint32_t kIgnorable = NormalizedMosesSegmenter<MosesLanguage::english>::kIgnorable;
    static constexpr std::uint32_t kCapitalSigma = 0x3A3;
    static constexpr std::uint32_t kFinalSigma = 0x3C2;
    static constexpr std::uint32_t kMostHeld = 16;

    void leave(bool is_final) noexcept {
        if (!has_sigma_) return;
        has_sigma_ = false;
        if (is_final) {
            write(sigma_, kFinalSigma);
        } else {
            fold(sigma_);
        }
        for (std::uint32_t i = 0; i < held_; ++i)
            fold(sigma_.as(ignored_[i], kinds_.of(ignored_[i])));
        held_ = 0;
    }
    void write(const MosesCharacter& one, std::uint32_t scalar) noexcept {
        next_.put(one.as(scalar, kinds_.of(scalar)));
    }
    bool vanishes(std::uint32_t scalar) const noexcept {
        const std::uint32_t at = folded_at(folding_, scalar);
        return at != 0 && folding_.folded[at] == 0;
    }
    void fold(const MosesCharacter& one) noexcept {
        const std::uint32_t scalar = one.unit.scalar;
        if (folding_.decomposes_hangul && is_hangul_syllable(scalar)) {
            const Parts parts = hangul_parts(scalar);
            for (std::uint32_t i = 0; i < parts.count; ++i)
                write(one, parts.scalar[i]);
            return;
        }
        const std::uint32_t at = folded_at(folding_, scalar);
        if (at == 0) {
            next_.put(one);
            return;
        }
        for (const std::uint8_t* text = folding_.folded + at; *text != 0;) {
            const Decoded decoded = decode_known(text);
            text += decoded.size;
            write(one, decoded.scalar);
        }
    }

    const Folding& folding_;
    MosesKinds kinds_;
    Next next_;
    MosesCharacter sigma_{};
    std::uint32_t ignored_[kMostHeld]{};  // behind it, at its place
    std::uint32_t held_ = 0;
    bool has_sigma_ = false;
    bool is_cased_ = false;  // what is before the next character, without those that case ignores
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
