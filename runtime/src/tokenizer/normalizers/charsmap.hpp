// SPDX-License-Identifier: Apache-2.0
// SentencePiece's compiled map of characters, as the wheel's Precompiled applies it: to grapheme clusters of less than
// six bytes as a whole, to the characters of longer ones one by one, and always by the shortest key.
#pragma once

#include <cstdint>

#include "../cursor.hpp"
#include "../unicode/graphemes.hpp"
#include "../unicode/utf8.hpp"
#include "etch/tokenizer/normalizers.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::uint32_t kLongCluster = 6;  // bytes

// What the shortest key that `bytes` begin with becomes, up to a zero; null if there is none.
const std::uint8_t* find_in_charsmap(const CharsmapNormalizer& map, const std::uint8_t* bytes,
                                     std::uint32_t size) noexcept;

inline bool is_plain(const CharsmapNormalizer& map, std::uint32_t scalar) noexcept {
    return scalar < 0x80U && scalar != 0 && map.plain[scalar] == scalar;
}

// The map over the characters of a `Source`, which can be copied to look ahead:
//     bool next(Unit&)
//     bool may_seek() const, std::uint32_t position() const, void seek(std::uint32_t)
//
// Offsets are peculiar to the wheel, which counts characters instead of following them. A part of m characters that
// becomes n has the places of its first ones, and its last place for all that are more. A part that becomes nothing
// gives its place to such a last one before it. Where parts at the very beginning become nothing, their places stay:
// all that follows has the places of so many characters earlier.
template <class Source>
class CharsmapStage {
  public:
    CharsmapStage(const CharsmapNormalizer& map, const Source& source) noexcept
        : map_(&map), source_(source), places_(source) {}

    bool next(Unit& unit) noexcept {
        if (!map_->has_map) return source_.next(unit);
        while (text_ == nullptr) {
            Part part;
            if (!find_part(part)) return false;
            const bool vanishes = part.text != nullptr && *part.text == 0;
            if (vanishes && !has_begun_) {
                lags_ = true;
                drop(part.size);
                continue;
            }
            for (std::uint32_t i = 0; i < part.size; ++i)
                part_places_[i] = take_place(queue_[i].unit);
            if (part.text == nullptr) {
                unit = {queue_[0].unit.scalar, part_places_[0].begin, part_places_[0].end, 0};
                drop(1);
                has_begun_ = true;
                return true;
            }
            drop(part.size);
            if (vanishes) continue;
            has_begun_ = true;
            text_ = part.text;
            part_size_ = part.size;
            given_ = 0;
        }
        const Decoded decoded = decode_known(text_);
        const bool is_more = given_ >= part_size_;
        Place place = part_places_[is_more ? part_size_ - 1 : given_];
        ++given_;
        text_ += decoded.size;
        if (*text_ == 0) {
            text_ = nullptr;
            if (is_more) take_place_of_nothing(place);
        }
        unit = {decoded.scalar, place.begin, place.end, 0};
        return true;
    }

    // Whether all before position() has been given out, and nothing behind depends on it.
    bool may_seek() const noexcept {
        if (text_ != nullptr || lags_) return false;
        return queued_ == 0 ? source_.may_seek() : queue_[0].begins;
    }
    std::uint32_t position() const noexcept { return queued_ == 0 ? source_.position() : queue_[0].unit.begin; }
    void seek(std::uint32_t position) noexcept {
        source_.seek(position);
        breaks_ = GraphemeBreaks();
        queued_ = 0;
        has_begun_ = true;
    }

  private:
    struct Place {
        std::uint32_t begin;
        std::uint32_t end;
    };
    struct Queued {
        Unit unit;
        bool begins;  // a cluster
    };
    struct Part {
        std::uint32_t size;        // characters
        const std::uint8_t* text;  // that it becomes; null: it stays
    };
    static constexpr std::uint32_t kMostQueued = kLongCluster;  // a short cluster and what begins the next one

    // Reads on until the cluster that begins with the first one in the queue has ended, or is long.
    void fill_queue() noexcept {
        std::uint32_t bytes = 0;
        for (std::uint32_t i = 0; bytes < kLongCluster; ++i) {
            if (i == queued_) {
                Unit unit;
                if (!source_.next(unit)) return;
                queue_[queued_++] = {unit, breaks_.begins_at(unit.scalar)};
            }
            if (queue_[i].begins != (i == 0)) return;
            bytes += encoded_size(queue_[i].unit.scalar);
        }
    }

    // The next part: a short cluster that is found as a whole, or a character. False at the end.
    bool find_part(Part& part) noexcept {
        fill_queue();
        if (queued_ == 0) return false;
        const bool is_alone = !queue_[0].begins || queued_ == 1 || queue_[1].begins;
        part = {1, nullptr};
        if (is_alone && is_plain(*map_, queue_[0].unit.scalar)) return true;
        std::uint8_t bytes[kLongCluster + kMaxUtf8Bytes];
        std::uint32_t chars = 1;
        std::uint32_t size = encode(queue_[0].unit.scalar, bytes);
        const std::uint32_t first = size;
        while (!is_alone && chars < queued_ && !queue_[chars].begins)  // those behind a long cluster are not queued
            size += encode(queue_[chars++].unit.scalar, bytes + size);
        const bool is_short = size < kLongCluster;
        part.text = find_in_charsmap(*map_, bytes, is_short ? size : first);
        if (is_short && part.text != nullptr) part.size = chars;
        return true;
    }

    void drop(std::uint32_t count) noexcept {
        for (std::uint32_t i = count; i < queued_; ++i)
            queue_[i - count] = queue_[i];
        queued_ -= count;
    }

    Place take_place(const Unit& unit) noexcept {
        Unit earlier = unit;
        if (lags_) places_.next(earlier);
        return {earlier.begin, earlier.end};
    }

    void take_place_of_nothing(Place& place) noexcept {
        Part part;
        if (!find_part(part) || part.text == nullptr || *part.text != 0) return;
        Unit earlier = queue_[0].unit;
        if (lags_) {
            Source places = places_;
            places.next(earlier);
        }
        place = {earlier.begin, earlier.end};
    }

    const CharsmapNormalizer* map_;
    Source source_;
    GraphemeBreaks breaks_;
    Queued queue_[kMostQueued] = {};  // read, but not yet given out
    std::uint32_t queued_ = 0;

    const std::uint8_t* text_ = nullptr;  // what is left of what a part becomes
    std::uint32_t part_size_ = 0;
    std::uint32_t given_ = 0;  // characters of that text
    Place part_places_[kMostQueued] = {};

    bool has_begun_ = false;  // something has been given out
    bool lags_ = false;       // places are read from places_
    Source places_;
};

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
