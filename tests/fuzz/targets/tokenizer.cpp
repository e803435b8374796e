// SPDX-License-Identifier: Apache-2.0
// The tokenizer, with five vocabularies and every setting: what a text becomes without a limit decides what it becomes
// with one. An input is
//     tables, settings, capacity, first text [, FF FF, second text]
// with one byte for each of the first three.
#include "etch/tokenizer.hpp"

#include <algorithm>
#include <vector>

#include "agnews_weights.hpp"
#include "fuzz.hpp"
#include "tokenizer/test_vocabulary.hpp"

namespace {

using etch::SpecialTokens;
using etch::fuzz::check;

const etch::WordPiece* const kTables[] = {
    &test_vocabulary::kUncased,       &test_vocabulary::kCased,  &test_vocabulary::kWithTokens,
    &test_vocabulary::kLowercaseOnly, &etch::agnews::kTokenizer,
};

struct Encoded {
    std::vector<std::int32_t> ids;
    std::vector<std::uint8_t> segments;
    std::vector<etch::TokenOffset> offsets;
    bool truncated = false;
};

// Blocks of exactly the promised sizes, their content garbage that differs from call to call.
Encoded encode(const etch::WordPiece& tables, std::string_view first, const std::string_view* second,
               SpecialTokens mode, std::uint32_t capacity) {
    static std::uint8_t garbage = 0;
    garbage = static_cast<std::uint8_t>(garbage * 5 + 1);
    const std::size_t scratch_bytes = etch::tokenizer_scratch_bytes(tables.max_word_chars);
    const std::unique_ptr<std::uint64_t[]> scratch(new std::uint64_t[scratch_bytes / 8]);
    const std::unique_ptr<std::int32_t[]> ids(new std::int32_t[capacity]);
    const std::unique_ptr<std::uint8_t[]> segments(new std::uint8_t[capacity]);
    const std::unique_ptr<etch::TokenOffset[]> offsets(new etch::TokenOffset[capacity]);
    std::memset(scratch.get(), garbage, scratch_bytes);
    std::memset(ids.get(), garbage, capacity * sizeof(std::int32_t));
    const etch::TokenSink sink{ids.get(), segments.get(), offsets.get(), capacity};
    etch::Tokenized result{};
    const etch::Status status = second != nullptr
                                    ? etch::tokenize_pair(tables, first, *second, mode, scratch.get(), sink, result)
                                    : etch::tokenize(tables, first, mode, scratch.get(), sink, result);
    check(status == etch::Status::ok, "a text is tokenized, whatever it is");
    check(result.count <= capacity, "no more tokens than fit");
    return {{ids.get(), ids.get() + result.count},
            {segments.get(), segments.get() + result.count},
            {offsets.get(), offsets.get() + result.count},
            result.truncated};
}

bool same(const etch::TokenOffset& a, const etch::TokenOffset& b) {
    return a.begin == b.begin && a.end == b.end;
}

// Whether one of the tokens has this id; with `special` only those that plain text never becomes.
bool has_id(const etch::AddedTokens& tokens, std::int32_t id, bool special = false) {
    for (std::uint32_t i = 0; i < tokens.count; ++i) {
        if (tokens.ids[i] == id && (!special || (tokens.flags[i] & etch::AddedTokens::kSpecial) != 0)) {
            return true;
        }
    }
    return false;
}

bool is_special(const etch::WordPiece& tables, std::int32_t id) {
    return id != tables.unknown_id &&
           (has_id(tables.raw_tokens, id, true) || has_id(tables.normalized_tokens, id, true));
}

// The tokens of one text, [CLS] and [SEP] around them, nothing cut.
Encoded encode_whole(const etch::WordPiece& tables, std::string_view text, SpecialTokens mode) {
    // A byte makes at most one token, or a character of three bytes three.
    const Encoded whole = encode(tables, text, nullptr, mode, static_cast<std::uint32_t>(text.size()) + 2);
    check(!whole.truncated, "no more tokens than bytes");
    check(whole.ids.size() >= 2, "[CLS] and [SEP] are always there");
    check(whole.ids.front() == tables.classify_id && whole.ids.back() == tables.separate_id, "[CLS] text [SEP]");
    const bool ascii =
        std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
    std::uint32_t before = 0;
    for (std::size_t i = 1; i + 1 < whole.ids.size(); ++i) {
        const std::int32_t id = whole.ids[i];
        const etch::TokenOffset& offset = whole.offsets[i];
        const bool is_piece = id >= 0 && static_cast<std::uint32_t>(id) < tables.piece_count;
        check(is_piece || has_id(tables.raw_tokens, id) || has_id(tables.normalized_tokens, id), "ids are in range");
        check(offset.begin <= offset.end && offset.end <= text.size(), "offsets lie in the text");
        // Marks beyond ASCII may change places when they are normalized, and several tokens may share a character.
        check(!ascii || (before <= offset.begin && offset.begin < offset.end), "tokens follow each other");
        check(mode == SpecialTokens::recognized || !is_special(tables, id), "no special token from plain text");
        before = offset.end;
    }
    return whole;
}

// cut[at, at + count) is the beginning of the whole text's tokens.
void check_beginning(const Encoded& cut, std::size_t at, std::size_t count, const Encoded& whole) {
    for (std::size_t i = 0; i < count; ++i) {
        check(cut.ids[at + i] == whole.ids[1 + i], "a cut text has the first ids of the whole one");
        check(same(cut.offsets[at + i], whole.offsets[1 + i]), "a cut text has the first offsets of the whole one");
    }
}

void check_single(const etch::WordPiece& tables, std::string_view text, SpecialTokens mode, std::uint32_t capacity) {
    const Encoded whole = encode_whole(tables, text, mode);
    const Encoded cut = encode(tables, text, nullptr, mode, capacity);
    if (capacity < 2) {
        check(cut.ids.empty() && cut.truncated, "no room for [CLS] and [SEP]: nothing");
        return;
    }
    const std::size_t tokens = whole.ids.size() - 2;
    const std::size_t kept = std::min<std::size_t>(tokens, capacity - 2);
    check(cut.ids.size() == kept + 2 && cut.truncated == (kept < tokens), "as many tokens as fit");
    check_beginning(cut, 1, kept, whole);
    check(cut.ids.front() == tables.classify_id && cut.ids.back() == tables.separate_id, "[CLS] text [SEP]");
    check(std::count(cut.segments.begin(), cut.segments.end(), 0) == static_cast<std::ptrdiff_t>(kept + 2),
          "one text is segment 0");
}

void check_pair(const etch::WordPiece& tables, std::string_view first, std::string_view second, SpecialTokens mode,
                std::uint32_t capacity) {
    const Encoded whole_first = encode_whole(tables, first, mode);
    const Encoded whole_second = encode_whole(tables, second, mode);
    const Encoded cut = encode(tables, first, &second, mode, capacity);
    if (capacity < 3) {
        check(cut.ids.empty() && cut.truncated, "no room for the special tokens: nothing");
        return;
    }
    const std::size_t tokens_first = whole_first.ids.size() - 2;
    const std::size_t tokens_second = whole_second.ids.size() - 2;
    const std::size_t room = capacity - 3;
    const std::size_t kept = std::min(tokens_first + tokens_second, room);
    check(cut.ids.size() == kept + 3 && cut.truncated == (kept < tokens_first + tokens_second), "as many as fit");
    const auto ends = std::count(cut.segments.begin(), cut.segments.end(), 0);
    check(ends >= 2, "[CLS] and the first [SEP] are segment 0");
    const std::size_t kept_first = static_cast<std::size_t>(ends) - 2;
    check(kept_first <= tokens_first && kept - kept_first <= tokens_second, "no token comes from nowhere");
    const std::size_t kept_second = kept - kept_first;
    const bool cut_first = kept_first < tokens_first;
    const bool cut_second = kept_second < tokens_second;
    // Longest first: whoever is cut is the longer one afterwards too, or equal but for the odd token.
    check(!cut_first || kept_first + 1 >= kept_second, "the first text is not cut below the second");
    check(!cut_second || kept_second + 1 >= kept_first, "the second text is not cut below the first");
    check_beginning(cut, 1, kept_first, whole_first);
    check_beginning(cut, kept_first + 2, kept_second, whole_second);
    check(std::is_sorted(cut.segments.begin(), cut.segments.end()), "segment 0, then segment 1");
    check(cut.ids.front() == tables.classify_id, "[CLS] at the start");
    check(cut.ids[kept_first + 1] == tables.separate_id && cut.ids.back() == tables.separate_id, "[SEP] after each");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    etch::WordPiece tables = *kTables[input.byte() % std::size(kTables)];
    const std::uint8_t settings = input.byte();
    tables.clean_text ^= (settings & 1) != 0;
    tables.handle_chinese_chars ^= (settings & 2) != 0;
    tables.strip_accents ^= (settings & 4) != 0;
    tables.lowercase ^= (settings & 8) != 0;
    const SpecialTokens mode = (settings & 16) != 0 ? SpecialTokens::plain_text : SpecialTokens::recognized;
    if ((settings & 32) != 0) {
        tables.max_word_chars = settings >> 6;  // short words are rare in texts, words too long rarer still
    }
    const std::uint32_t capacity = input.byte();
    const std::size_t before = input.rest().size();
    const etch::fuzz::ExactText first(input.until(etch::fuzz::kBetweenTexts));
    if (first.view().size() == before) {
        check_single(tables, first.view(), mode, capacity);
        return 0;
    }
    const etch::fuzz::ExactText second(input.rest());
    check_pair(tables, first.view(), second.view(), mode, capacity);
    return 0;
}
