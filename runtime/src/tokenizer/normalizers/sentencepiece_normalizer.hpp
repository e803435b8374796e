// SPDX-License-Identifier: Apache-2.0
// SentencePiece's own normalization as a stream, `Normalizer::Normalize` of its normalizer.cc: the longest key of the
// compiled map at each place, then spaces. `tokenizers`, which CharsmapNormalizer follows, does either otherwise.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../unicode/utf8.hpp"
#include "charsmap_search.hpp"
#include "etch/tokenizer/normalizers.hpp"
#include "etch/tokenizer/segmenters.hpp"
#include "no_normalizer.hpp"
#include "space_stages.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// The map over the characters of a `Source`, which can be copied to look ahead. What a key becomes has the place of all
// that the key was found in.
template <class Source>
class LongestKeyStage {
  public:
    LongestKeyStage(const SentencePieceNormalizer& map, const Source& source) noexcept : map_(&map), source_(source) {}

    bool next(Unit& unit) noexcept {
        while (text_ == nullptr) {
            if (!source_.next(unit)) return false;
            if (!map_->has_map || !find_key(unit)) return true;
        }
        const Decoded decoded = decode_known(text_);
        text_ += decoded.size;
        if (*text_ == 0) text_ = nullptr;
        unit = {decoded.scalar, begin_, source_.position(), 0};
        return true;
    }

    bool may_seek() const noexcept { return text_ == nullptr && source_.may_seek(); }
    std::uint32_t position() const noexcept { return source_.position(); }
    void seek(std::uint32_t position) noexcept { source_.seek(position); }

  private:
    // Moves the source behind the longest key that begins with `unit`. False if there is none.
    bool find_key(Unit unit) noexcept {
        begin_ = unit.begin;
        CharsmapSearch search(map_->units);
        Source ahead = source_;
        const std::uint8_t* found = nullptr;
        do {
            std::uint8_t bytes[kMaxUtf8Bytes];
            const std::uint32_t size = encode(unit.scalar, bytes);
            std::uint32_t i = 0;
            while (i < size && search.step(bytes[i]))
                ++i;
            if (i < size) break;
            if (search.is_key()) {
                found = map_->texts + search.value();
                source_ = ahead;
            }
        } while (ahead.next(unit));
        if (found != nullptr && *found != 0) text_ = found;
        return found != nullptr;
    }

    const SentencePieceNormalizer* map_;
    Source source_;
    const std::uint8_t* text_ = nullptr;  // what is left of what a key becomes
    std::uint32_t begin_ = 0;             // of that key
};

// A `Source` without the spaces at its beginning, with one space for a run of them, and without spaces and U+2581 at
// its end: which of them it was is no longer seen there.
template <class Source>
class SingleSpaceStage {
  public:
    explicit SingleSpaceStage(const Source& source) noexcept : source_(source) {}

    bool next(Unit& unit) noexcept {
        while (source_.next(unit)) {
            const bool is_space = unit.scalar == kSpace;
            if (may_vanish(unit.scalar)) {
                if (inner_ == 0) {
                    inner_ = inner_run(source_, [](std::uint32_t scalar) { return may_vanish(scalar); });
                    if (inner_ == 0) return false;
                }
                --inner_;
                if (is_space && is_behind_space_) continue;
            }
            is_behind_space_ = is_space;
            if (is_space) unit.end = end_of_run(unit.end);
            return true;
        }
        return false;
    }

    bool may_seek() const noexcept { return inner_ == 0 && source_.may_seek(); }
    std::uint32_t position() const noexcept { return source_.position(); }
    void seek(std::uint32_t position) noexcept {
        source_.seek(position);
        is_behind_space_ = false;
    }

  private:
    static constexpr bool may_vanish(std::uint32_t scalar) noexcept {
        return scalar == kSpace || scalar == MetaspaceSegmenter::kMetaspace;
    }

    // Of the spaces that follow one which ends at `end`.
    std::uint32_t end_of_run(std::uint32_t end) const noexcept {
        Source ahead = source_;
        for (Unit unit; ahead.next(unit) && unit.scalar == kSpace;)
            end = unit.end;
        return end;
    }

    Source source_;
    bool is_behind_space_ = true;  // or at the beginning
    std::uint32_t inner_ = 0;      // so many to come, the one just read included, are not at the end
};

// Characters have no properties here: what asks for them are tokens that are matched in normalized text.
template <>
class Cursor<SentencePieceNormalizer> : public SingleSpaceStage<LongestKeyStage<Cursor<NoNormalizer>>> {
  public:
    Cursor(const SentencePieceNormalizer& settings, std::string_view text, RawSplitter& splitter) noexcept
        : SingleSpaceStage({settings, Cursor<NoNormalizer>({}, text, splitter)}), settings_(&settings) {}

    std::uint8_t plain(std::uint8_t byte) const noexcept { return settings_->plain[byte]; }

  private:
    const SentencePieceNormalizer* settings_;
};

template <>
inline constexpr bool kHasCodes<SentencePieceNormalizer> = true;

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
