// SPDX-License-Identifier: Apache-2.0
// Calls of the tokenizer as the tests make them, over the vocabularies of test_vocabulary.hpp.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "etch/tokenizer.hpp"
#include "test_vocabulary.hpp"

namespace tokenizer_calls {

using etch::BertTokenizer;
using etch::SpecialTokens;
using etch::Status;
using etch::Tokenized;
using etch::TokenOffset;
using etch::TokenSink;
using test_vocabulary::kCased;
using test_vocabulary::kLowercaseOnly;
using test_vocabulary::kUncased;
using test_vocabulary::kWithTokens;

using Strings = std::vector<std::string>;

struct Output {
    Strings pieces;  // of the texts: without the template's tokens
    std::vector<std::int32_t> ids;
    std::vector<TokenOffset> offsets;
    std::vector<int> segments;
    bool truncated = false;
};

inline std::string text_of_piece(const BertTokenizer& tables, std::int32_t id) {
    std::string text(etch::piece(tables, id, nullptr, 0), '\0');
    EXPECT_EQ(etch::piece(tables, id, text.data(), text.size()), text.size());
    return text;
}

// Buffers end exactly where they are said to, so that a sanitizer sees what is written beyond; behind the scratch is a
// guard.
class Call {
  public:
    Call(const BertTokenizer& tables, std::uint32_t capacity)
        : tables_(tables),
          scratch_((etch::tokenizer_scratch_bytes(tables) + 7) / 8 + kGuard, kUnused),
          ids_(capacity, -7),
          segments_(capacity, 77),
          offsets_(capacity, TokenOffset{7, 7}) {}

    Output single(std::string_view text, SpecialTokens mode) {
        EXPECT_EQ(etch::tokenize(tables_, text, mode, scratch_.data(), sink(), result_), Status::ok);
        return output();
    }
    Output pair(std::string_view first, std::string_view second) {
        EXPECT_EQ(
            etch::tokenize_pair(tables_, first, second, SpecialTokens::recognized, scratch_.data(), sink(), result_),
            Status::ok);
        return output();
    }

  private:
    static constexpr std::size_t kGuard = 64;  // words behind the scratch, which stay as they are
    static constexpr std::uint64_t kUnused = ~0ULL;

    TokenSink sink() {
        return {ids_.data(), segments_.data(), offsets_.data(), static_cast<std::uint32_t>(ids_.size())};
    }
    Output output() const {
        for (std::size_t i = scratch_.size() - kGuard; i < scratch_.size(); ++i)
            EXPECT_EQ(scratch_[i], kUnused) << "written behind the scratch";
        Output out;
        out.truncated = result_.truncated;
        for (std::uint32_t i = 0; i < result_.count; ++i) {
            out.ids.push_back(ids_[i]);
            out.offsets.push_back(offsets_[i]);
            out.segments.push_back(segments_[i]);
            const bool is_template = offsets_[i].begin == 0 && offsets_[i].end == 0;
            if (!is_template) out.pieces.push_back(text_of_piece(tables_, ids_[i]));
        }
        return out;
    }

    const BertTokenizer& tables_;
    std::vector<std::uint64_t> scratch_;
    std::vector<std::int32_t> ids_;
    std::vector<std::uint8_t> segments_;
    std::vector<TokenOffset> offsets_;
    Tokenized result_{};
};

inline Output run(const BertTokenizer& tables, std::string_view text, std::uint32_t capacity = 300,
                  SpecialTokens mode = SpecialTokens::recognized) {
    return Call(tables, capacity).single(text, mode);
}

inline Strings uncased(std::string_view text) {
    return run(kUncased, text).pieces;
}

inline std::string repeat(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i)
        all += text;
    return all;
}

}  // namespace tokenizer_calls
