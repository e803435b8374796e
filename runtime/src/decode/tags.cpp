// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/tags.hpp"

#include "etch/decode/argmax.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

// A token, or the tokens of a word.
struct Unit {
    std::uint32_t label;
    float score;
    TokenOffset offset;
};

class Spans {
  public:
    Spans(TagSpan* spans, std::uint32_t capacity) noexcept : spans_(spans), capacity_(capacity) {}

    void add(const TagSpan& span) noexcept {
        if (count_ < capacity_) spans_[count_] = span;
        ++count_;
    }
    std::uint32_t count() const noexcept { return count_; }

  private:
    TagSpan* spans_;
    std::uint32_t capacity_;
    std::uint32_t count_ = 0;
};

// Units of one entity, one after the other.
class Entity {
  public:
    Entity(const TagLabel* labels, Spans& spans) noexcept : labels_(labels), spans_(spans) {}

    void add(const Unit& unit) noexcept {
        const TagLabel& label = labels_[unit.label];
        if (units_ != 0 && (label.begins || label.group != labels_[last_].group)) end();
        if (units_ == 0) {
            entity_ = label.entity;
            outside_ = label.no_entity;
            begin_ = unit.offset.begin;
            sum_ = 0.0F;
        }
        sum_ = sum_ + unit.score;
        end_ = unit.offset.end;
        last_ = unit.label;
        ++units_;
    }

    void end() noexcept {
        if (units_ != 0 && !outside_) spans_.add({entity_, sum_ / static_cast<float>(units_), begin_, end_});
        units_ = 0;
    }

  private:
    const TagLabel* labels_;
    Spans& spans_;
    std::uint32_t units_ = 0;  // so far; 0: no entity
    std::uint32_t last_ = 0;   // label of the last one
    std::uint32_t entity_ = 0;
    bool outside_ = false;
    float sum_ = 0.0F;
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
};

Unit unit_of_token(const TaggedTokens& tokens, std::uint32_t token) noexcept {
    const float* row = tokens.probability.from(token).data;
    const std::uint32_t label = argmax(row, tokens.probability.width);
    return {label, row[label], tokens.offsets[token]};
}

Unit with_largest_token(const TaggedTokens& tokens, std::uint32_t first, std::uint32_t end) noexcept {
    Unit best = unit_of_token(tokens, first);
    for (std::uint32_t token = first + 1; token < end; ++token) {
        if (tokens.marks[token] == TokenMark::special) continue;
        const Unit unit = unit_of_token(tokens, token);
        if (unit.score > best.score) best = unit;
    }
    return best;
}

Unit with_largest_mean(const TaggedTokens& tokens, std::uint32_t first, std::uint32_t end) noexcept {
    Unit best{0, -1.0F, {}};
    for (std::uint32_t label = 0; label < tokens.probability.width; ++label) {
        float sum = 0.0F;
        std::uint32_t count = 0;
        for (std::uint32_t token = first; token < end; ++token) {
            if (tokens.marks[token] == TokenMark::special) continue;
            sum = sum + tokens.probability.from(token).data[label];
            ++count;
        }
        const float mean = sum / static_cast<float>(count);
        if (mean > best.score) best = {label, mean, {}};
    }
    return best;
}

// Tokens [first, end), which begin with the word's first one and end with its last one.
Unit unit_of_word(const TaggedTokens& tokens, Aggregation aggregation, std::uint32_t first,
                  std::uint32_t end) noexcept {
    Unit unit = aggregation == Aggregation::average ? with_largest_mean(tokens, first, end)
                : aggregation == Aggregation::max   ? with_largest_token(tokens, first, end)
                                                    : unit_of_token(tokens, first);
    unit.offset = {tokens.offsets[first].begin, tokens.offsets[end - 1].end};
    return unit;
}

// One past the last token of the word that begins at `first`.
std::uint32_t end_of_word(const TaggedTokens& tokens, std::uint32_t first) noexcept {
    std::uint32_t end = first + 1;
    for (std::uint32_t token = end; token < tokens.count && tokens.marks[token] != TokenMark::begins_word; ++token) {
        if (tokens.marks[token] == TokenMark::goes_on) end = token + 1;
    }
    return end;
}

}  // namespace

std::uint32_t find_tags(const TagLabel* labels, const TaggedTokens& tokens, Aggregation aggregation, TagSpan* spans,
                        std::uint32_t capacity) noexcept {
    const bool of_words = aggregation != Aggregation::none && aggregation != Aggregation::simple;
    Spans found(spans, capacity);
    Entity entity(labels, found);
    std::uint32_t end = 0;
    for (std::uint32_t token = 0; token < tokens.count; token = end) {
        end = token + 1;
        if (tokens.marks[token] == TokenMark::special) continue;
        if (of_words) end = end_of_word(tokens, token);
        const Unit unit = of_words ? unit_of_word(tokens, aggregation, token, end) : unit_of_token(tokens, token);
        if (aggregation != Aggregation::none)
            entity.add(unit);
        else if (!labels[unit.label].outside)
            found.add({unit.label, unit.score, unit.offset.begin, unit.offset.end});
    }
    entity.end();
    return found.count();
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
