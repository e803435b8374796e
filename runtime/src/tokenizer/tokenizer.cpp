// SPDX-License-Identifier: Apache-2.0
// The public functions: the template around the texts, and truncation.
#include "etch/tokenizer.hpp"

#include "encoder.hpp"
#include "truncation.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

using tokenizer::Encoder;
using tokenizer::TokenWriter;

constexpr std::uint32_t kSingleSpecials = 2;  // [CLS] A [SEP]
constexpr std::uint32_t kPairSpecials = 3;    // [CLS] A [SEP] B [SEP]
constexpr std::uint32_t kEverything = 0xFFFFFFFF;
constexpr std::size_t kLongestText = 0xFFFFFFFE;  // positions and counts are 32-bit

void write_special(const TokenSink& sink, std::uint32_t at, std::int32_t id) noexcept {
    sink.ids[at] = id;
    if (sink.offsets != nullptr) sink.offsets[at] = {0, 0};
}

TokenWriter writer_at(const TokenSink& sink, std::uint32_t at, std::uint32_t room) noexcept {
    return {sink.ids + at, sink.offsets == nullptr ? nullptr : sink.offsets + at, room};
}

void set_segments(const TokenSink& sink, std::uint32_t first_end, std::uint32_t end) noexcept {
    for (std::uint32_t i = 0; i < first_end; ++i)
        sink.segments[i] = 0;
    for (std::uint32_t i = first_end; i < end; ++i)
        sink.segments[i] = 1;
}

}  // namespace

Status tokenize(const WordPiece& tables, std::string_view text, SpecialTokens mode, void* scratch,
                const TokenSink& sink, Tokenized& result) noexcept {
    result = {0, false};
    if (text.size() > kLongestText) return Status::text_too_long;
    if (sink.capacity < kSingleSpecials) {
        result.truncated = true;
        return Status::ok;
    }
    const std::uint32_t room = sink.capacity - kSingleSpecials;
    TokenWriter out = writer_at(sink, 1, room);
    Encoder(tables, text, mode, scratch, out, room).run();
    const std::uint32_t kept = out.count < room ? out.count : room;
    result = {kept + kSingleSpecials, out.count > room};
    write_special(sink, 0, tables.classify_id);
    write_special(sink, kept + 1, tables.separate_id);
    set_segments(sink, result.count, result.count);
    return Status::ok;
}

Status tokenize_pair(const WordPiece& tables, std::string_view first, std::string_view second, SpecialTokens mode,
                     void* scratch, const TokenSink& sink, Tokenized& result) noexcept {
    result = {0, false};
    if (first.size() > kLongestText || second.size() > kLongestText) return Status::text_too_long;
    if (sink.capacity < kPairSpecials) {
        result.truncated = true;
        return Status::ok;
    }
    const std::uint32_t room = sink.capacity - kPairSpecials;
    TokenWriter first_out = writer_at(sink, 1, room);
    Encoder(tables, first, mode, scratch, first_out, kEverything).run();

    // How much of the first text stays depends on the length of the second. The second is written as if all of the
    // first stayed, which is right if both fit, and otherwise once more at its place: counting it is work that is due
    // anyway.
    std::uint32_t first_kept = first_out.count < room ? first_out.count : room;
    TokenWriter second_out = writer_at(sink, first_kept + 2, room - first_kept);
    Encoder(tables, second, mode, scratch, second_out, kEverything).run();
    const tokenizer::Kept kept = tokenizer::longest_first(first_out.count, second_out.count, room);
    const bool truncated = kept.first != first_out.count || kept.second != second_out.count;
    if (kept.first != first_kept) {
        first_kept = kept.first;
        TokenWriter again = writer_at(sink, first_kept + 2, kept.second);
        Encoder(tables, second, mode, scratch, again, kept.second).run();
    }
    result = {first_kept + kept.second + kPairSpecials, truncated};
    write_special(sink, 0, tables.classify_id);
    write_special(sink, first_kept + 1, tables.separate_id);
    write_special(sink, result.count - 1, tables.separate_id);
    set_segments(sink, first_kept + 2, result.count);
    return Status::ok;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
