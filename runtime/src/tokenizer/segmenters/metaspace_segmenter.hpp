// SPDX-License-Identifier: Apache-2.0
// Metaspace: words begin with U+2581.
#pragma once

#include <cstdint>
#include <string_view>

#include "../added_tokens.hpp"
#include "../cursor.hpp"
#include "../segmenter.hpp"
#include "../unicode/unicode.hpp"
#include "../unicode/utf8.hpp"
#include "../word.hpp"
#include "../words.hpp"
#include "etch/tokenizer/segmenters.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

template <class Model>
class Segmenter<MetaspaceSegmenter, Model> {
  public:
    Segmenter(const MetaspaceSegmenter& part, Words<Model>& words) noexcept : part_(part), words_(words) {}

    void take(const Unit& unit) noexcept {
        if (part_.split_whitespace && (unit.flags & Properties::kWhiteSpace) != 0) {
            end();
            return;
        }
        const bool is_metaspace = unit.scalar == kSpace || unit.scalar == kMetaspace;
        const bool may_prepend = !is_metaspace || part_.prepend == PrependScheme::doubled;
        if (is_between_ && may_prepend && begins_with_metaspace(unit.begin)) append_metaspace(unit.begin, unit.end);
        if (is_metaspace && part_.split) words_.end();
        is_between_ = false;
        if (is_metaspace) {
            append_metaspace(unit.begin, unit.end);
        } else {
            words_.append(unit);
        }
    }

    void end() noexcept {
        words_.end();
        is_between_ = true;
    }

    // Reads ASCII that stays as it is and is followed by more ASCII: each is a character that no other one changes.
    template <class Reader>
    void read_ahead(Reader& cursor, std::string_view text, RawSplitter& splitter, const TokenWriter& out,
                    std::uint32_t enough) noexcept {
        if (!cursor.may_seek()) return;
        const std::uint32_t begin = cursor.position();
        std::uint32_t at = begin;
        const auto byte_at = [text](std::uint32_t i) noexcept { return static_cast<std::uint8_t>(text[i]); };
        while (out.count <= enough && splitter.contains(at) && splitter.contains(at + 1)) {
            std::uint8_t byte = byte_at(at);
            std::uint8_t following = byte_at(at + 1);
            if (byte >= 0x80U || following >= 0x80U || cursor.plain(byte) == 0 || cursor.plain(following) == 0) break;
            if (byte == kSpace) {
                // White space at the end may vanish, and what follows only if it is part of a cluster.
                if (is_between_ || following == kSpace) break;
                if (!splitter.contains(at + 2) || byte_at(at + 2) >= 0x80U) break;
                if (part_.split_whitespace) {
                    end();
                } else {
                    if (part_.split) words_.end();
                    append_metaspace(at, at + 1);
                }
                ++at;
                continue;
            }
            if (is_between_) {
                if (begins_with_metaspace(at)) append_metaspace(at, at + 1);
                is_between_ = false;
            }
            const std::uint32_t limit = splitter.clear();
            std::uint8_t plain = cursor.plain(byte);
            while (byte != kSpace && at + 1 < limit && following < 0x80U) {
                const std::uint8_t following_plain = cursor.plain(following);
                if (following_plain == 0) break;  // it may vanish, and what is behind it join this one
                words_.append_ascii(plain, at);
                ++at;
                byte = following;
                plain = following_plain;
                following = at + 1 < limit ? byte_at(at + 1) : byte;
            }
        }
        if (at != begin) cursor.seek(at);
    }

  private:
    static constexpr std::uint32_t kMetaspace = MetaspaceSegmenter::kMetaspace;

    bool begins_with_metaspace(std::uint32_t begin) const noexcept {
        if (part_.prepend == PrependScheme::first) return begin == 0;
        return part_.prepend != PrependScheme::never;
    }
    void append_metaspace(std::uint32_t begin, std::uint32_t end) noexcept {
        words_.append({kMetaspace, begin, end, 0});
    }

    const MetaspaceSegmenter& part_;
    Words<Model>& words_;
    bool is_between_ = true;  // words, or at the beginning of a text
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
