// SPDX-License-Identifier: Apache-2.0
// What every tokenizer promises of every text: what it becomes without a limit decides what it becomes with one.
#pragma once

#include <algorithm>
#include <vector>

#include "etch/tokenizer.hpp"
#include "fuzz.hpp"

namespace etch::fuzz {

struct Encoded {
    std::vector<std::int32_t> ids;
    std::vector<std::uint8_t> segments;
    std::vector<TokenOffset> offsets;
    bool truncated = false;
    bool cut_word = false;
};

// Blocks of exactly the promised sizes, their content garbage that differs from call to call.
template <class Tables>
Encoded encode(const Tables& tables, std::string_view first, const std::string_view* second, SpecialTokens mode,
               std::uint32_t capacity) {
    static std::uint8_t garbage = 0;
    garbage = static_cast<std::uint8_t>(garbage * 5 + 1);
    const std::size_t scratch_bytes = tokenizer_scratch_bytes(tables);
    const std::unique_ptr<std::uint64_t[]> scratch(new std::uint64_t[scratch_bytes / 8]);
    const std::unique_ptr<std::int32_t[]> ids(new std::int32_t[capacity]);
    const std::unique_ptr<std::uint8_t[]> segments(new std::uint8_t[capacity]);
    const std::unique_ptr<TokenOffset[]> offsets(new TokenOffset[capacity]);
    std::memset(scratch.get(), garbage, scratch_bytes);
    std::memset(ids.get(), garbage, capacity * sizeof(std::int32_t));
    const TokenSink sink{ids.get(), segments.get(), offsets.get(), capacity};
    Tokenized result{};
    const Status status = second != nullptr ? tokenize_pair(tables, first, *second, mode, scratch.get(), sink, result)
                                            : tokenize(tables, first, mode, scratch.get(), sink, result);
    check(status == Status::ok, "a text is tokenized, whatever it is");
    check(result.count <= capacity, "no more tokens than fit");
    return {{ids.get(), ids.get() + result.count},
            {segments.get(), segments.get() + result.count},
            {offsets.get(), offsets.get() + result.count},
            result.truncated,
            result.cut_word};
}

// Whether one of the tokens has this id; with `special` only those that plain text never becomes.
inline bool has_id(const AddedTokens& tokens, std::int32_t id, bool special = false) {
    for (std::uint32_t i = 0; i < tokens.count; ++i) {
        if (tokens.ids[i] == id && (!special || (tokens.flags[i] & AddedTokens::kSpecial) != 0)) {
            return true;
        }
    }
    return false;
}

// A text or two in a template, and how many tokens of each are expected there.
struct Expected {
    const TemplatePart* parts;
    std::uint32_t part_count;
    const Encoded* texts[2];
    std::size_t kept[2];
};

inline void check_template(const Encoded& encoded, const Expected& expected) {
    std::size_t at = 0;
    const auto take = [&](std::int32_t id, std::uint8_t segment, const TokenOffset& offset) {
        check(at < encoded.ids.size(), "as many tokens as fit");
        check(encoded.ids[at] == id, "a cut text has the first ids of the whole one, between special tokens");
        check(encoded.offsets[at].begin == offset.begin && encoded.offsets[at].end == offset.end,
              "a cut text has the first offsets of the whole one");
        check(encoded.segments[at] == segment, "segments are the template's");
        ++at;
    };
    for (const TemplatePart* part = expected.parts; part != expected.parts + expected.part_count; ++part) {
        if (part->id >= 0) {
            take(part->id, part->segment, {0, 0});
            continue;
        }
        const std::size_t which = part->id == TemplatePart::kFirst ? 0 : 1;
        for (std::size_t i = 0; i < expected.kept[which]; ++i)
            take(expected.texts[which]->ids[i], part->segment, expected.texts[which]->offsets[i]);
    }
    check(at == encoded.ids.size(), "no token comes from nowhere");
}

// The tokens of one text, nothing cut, without the template's.
template <class Tables>
Encoded encode_whole(const Tables& tables, std::string_view text, SpecialTokens mode) {
    const Template& parts = tables.parts;
    // A byte makes at most one token, or a character of three bytes three, and the space that may be put before it one;
    // or as many as Moses' rules write for it, "&#124;".
    const auto capacity = static_cast<std::uint32_t>(6 * text.size()) + parts.single_count;
    Encoded whole = encode(tables, text, nullptr, mode, capacity);
    check(!whole.truncated, "no more tokens than bytes, or what is written for them");
    check(whole.ids.size() + 1 >= parts.single_count, "special tokens are always there");
    std::uint32_t before = 0;
    while (parts.single[before].id != TemplatePart::kFirst)
        ++before;
    const std::size_t count = whole.ids.size() + 1 - parts.single_count;
    const auto only_text = [&](auto& all) {
        all.erase(all.begin(), all.begin() + before);
        all.resize(count);
    };
    const Encoded all = whole;
    only_text(whole.ids);
    only_text(whole.segments);
    only_text(whole.offsets);
    check_template(all, {parts.single, parts.single_count, {&whole, nullptr}, {count, 0}});
    for (std::size_t i = 0; i < count; ++i) {
        const std::int32_t id = whole.ids[i];
        const bool is_piece = id >= 0 && static_cast<std::uint32_t>(id) < tables.model.piece_count;
        check(is_piece || has_id(tables.raw_tokens, id) || has_id(tables.normalized_tokens, id), "ids are in range");
        check(whole.offsets[i].begin <= whole.offsets[i].end && whole.offsets[i].end <= text.size(),
              "offsets lie in the text");
    }
    return whole;
}

template <class Tables>
void check_single(const Tables& tables, const Encoded& whole, std::string_view text, SpecialTokens mode,
                  std::uint32_t capacity) {
    const Encoded cut = encode(tables, text, nullptr, mode, capacity);
    const std::uint32_t specials = tables.parts.single_count - 1;
    if (capacity < specials) {
        check(cut.ids.empty() && cut.truncated, "no room for the special tokens: nothing");
        return;
    }
    const std::size_t kept = std::min<std::size_t>(whole.ids.size(), capacity - specials);
    check(cut.truncated == (kept < whole.ids.size()), "what is cut is said to be");
    check_template(cut, {tables.parts.single, tables.parts.single_count, {&whole, nullptr}, {kept, 0}});
}

template <class Tables>
void check_pair(const Tables& tables, const Encoded& whole_first, const Encoded& whole_second, std::string_view first,
                std::string_view second, SpecialTokens mode, std::uint32_t capacity) {
    const Encoded cut = encode(tables, first, &second, mode, capacity);
    const std::uint32_t specials = tables.parts.pair_count - 2;
    if (capacity < specials) {
        check(cut.ids.empty() && cut.truncated, "no room for the special tokens: nothing");
        return;
    }
    // Longest first, token by token: whoever is the longer one loses its last; on a tie it is the second, and then the
    // last tokens are shared out so that the shorter text has no more than the other one.
    const std::size_t room = capacity - specials;
    const std::size_t counts[2] = {whole_first.ids.size(), whole_second.ids.size()};
    const std::size_t longer = counts[0] > counts[1] ? 0 : 1;
    std::size_t kept[2] = {counts[0], counts[1]};
    while (kept[0] + kept[1] > room)
        --kept[kept[longer] >= kept[1 - longer] && kept[longer] != 0 ? longer : 1 - longer];
    if (kept[longer] < kept[1 - longer]) std::swap(kept[0], kept[1]);
    check(cut.truncated == (counts[0] + counts[1] > room), "what is cut is said to be");
    check_template(cut,
                   {tables.parts.pair, tables.parts.pair_count, {&whole_first, &whole_second}, {kept[0], kept[1]}});
}

// Runs a text, or two with FF FF between them, through all of that; `look` is shown each whole text, too.
template <class Tables, class Look>
void check_promises(const Tables& tables, SpecialTokens mode, std::uint32_t capacity, Input& input, Look look) {
    const std::size_t before = input.rest().size();
    const ExactText first(input.until(kBetweenTexts));
    const Encoded whole_first = encode_whole(tables, first.view(), mode);
    look(first.view(), whole_first);
    if (first.view().size() == before) {
        check_single(tables, whole_first, first.view(), mode, capacity);
        return;
    }
    const ExactText second(input.rest());
    const Encoded whole_second = encode_whole(tables, second.view(), mode);
    look(second.view(), whole_second);
    check_pair(tables, whole_first, whole_second, first.view(), second.view(), mode, capacity);
}

}  // namespace etch::fuzz
