// SPDX-License-Identifier: Apache-2.0
// The public functions: the template around the texts, and truncation. A composition instantiates them.
#pragma once

#include "encoder.hpp"
#include "etch/tokenizer.hpp"
#include "truncation.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

constexpr std::uint32_t kEverything = 0xFFFFFFFF;

inline TokenWriter writer_at(const TokenSink& sink, std::uint32_t at, std::uint32_t room) noexcept {
    return {sink.ids + at, sink.offsets == nullptr ? nullptr : sink.offsets + at, room};
}

// The tokens of one text, without the template. Kept out of line: it would be half of the code of a pair, three times.
template <class Tables>
[[gnu::noinline]] void encode_text(const Tables& tables, std::string_view text, SpecialTokens mode, void* scratch,
                                   TokenWriter& out, std::uint32_t enough) noexcept {
    Encoder<Tables>(tables, text, mode, scratch, out, enough).run();
}

// Writes special tokens and segments around texts of these sizes.
void write_template(const TemplatePart* parts, std::uint32_t count, std::uint32_t first, std::uint32_t second,
                    const TokenSink& sink) noexcept;

// Writes the template's padding behind so many tokens; how many there are then.
std::uint32_t write_padding(const Template& parts, std::uint32_t count, const TokenSink& sink) noexcept;

// Whether there is room for the special tokens and for all that an input is padded to.
constexpr bool has_room(const Template& parts, std::uint32_t specials, std::uint32_t capacity) noexcept {
    return capacity >= specials && capacity >= parts.padded;
}

}  // namespace tokenizer

template <class Tables>
Status tokenize(const Tables& tables, std::string_view text, SpecialTokens mode, void* scratch, const TokenSink& sink,
                Tokenized& result) noexcept {
    using namespace tokenizer;
    result = {0, false, false};
    if (text.size() > kLongestText) return Status::text_too_long;
    const Template& parts = tables.parts;
    const TemplatePart alone = {TemplatePart::kFirst, 0};
    const TemplatePart* const single = mode == SpecialTokens::in_text ? &alone : parts.single;
    const std::uint32_t specials = mode == SpecialTokens::in_text ? 0 : parts.single_count - 1;
    if (!has_room(parts, specials, sink.capacity)) {
        result.truncated = true;
        return Status::ok;
    }
    const std::uint32_t room = sink.capacity - specials;
    TokenWriter out = writer_at(sink, tokens_before(single, TemplatePart::kFirst), room);
    encode_text(tables, text, mode, scratch, out, room);
    const std::uint32_t kept = out.count < room ? out.count : room;
    write_template(single, specials + 1, kept, 0, sink);
    result = {write_padding(parts, kept + specials, sink), out.count > room, out.cut_word};
    return Status::ok;
}

template <class Tables>
Status tokenize_pair(const Tables& tables, std::string_view first, std::string_view second, SpecialTokens mode,
                     void* scratch, const TokenSink& sink, Tokenized& result) noexcept {
    using namespace tokenizer;
    result = {0, false, false};
    if (first.size() > kLongestText || second.size() > kLongestText) return Status::text_too_long;
    const Template& parts = tables.parts;
    const std::uint32_t specials = parts.pair_count - 2;
    if (!has_room(parts, specials, sink.capacity)) {
        result.truncated = true;
        return Status::ok;
    }
    const std::uint32_t room = sink.capacity - specials;
    TokenWriter first_out = writer_at(sink, tokens_before(parts.pair, TemplatePart::kFirst), room);
    encode_text(tables, first, mode, scratch, first_out, kEverything);

    // How much of the first text stays depends on the length of the second. The second is written as if all of the
    // first stayed, which is right if both fit, and otherwise once more at its place: counting it is work that is due
    // anyway.
    const std::uint32_t before =
        tokens_before(parts.pair, TemplatePart::kSecond) - 1;  // without the first text's tokens
    std::uint32_t first_kept = first_out.count < room ? first_out.count : room;
    TokenWriter second_out = writer_at(sink, first_kept + before, room - first_kept);
    encode_text(tables, second, mode, scratch, second_out, kEverything);
    const Kept kept = parts.cuts_first ? only_first(first_out.count, second_out.count, room)
                                       : longest_first(first_out.count, second_out.count, room);
    const bool truncated = kept.first != first_out.count || kept.second != second_out.count;
    if (parts.cuts_first && kept.second != second_out.count) {
        result.truncated = true;
        return Status::hypothesis_too_long;
    }
    if (kept.first != first_kept) {
        first_kept = kept.first;
        TokenWriter again = writer_at(sink, first_kept + before, kept.second);
        encode_text(tables, second, mode, scratch, again, kept.second);
    }
    write_template(parts.pair, parts.pair_count, first_kept, kept.second, sink);
    const std::uint32_t written = write_padding(parts, first_kept + kept.second + specials, sink);
    result = {written, truncated, first_out.cut_word || second_out.cut_word};
    return Status::ok;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
