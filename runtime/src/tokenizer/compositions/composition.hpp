// SPDX-License-Identifier: Apache-2.0
// What each composition makes of its parts, whose headers it includes: the public functions, once for its tables.
#pragma once

#include <cstdint>
#include <string_view>

#include "etch/tokenizer.hpp"
#include "tokenizer/pipeline.hpp"
#include "tokenizer/stream.hpp"

#define ETCH_COMPOSITION(Tables)                                                                               \
    namespace etch {                                                                                           \
    inline namespace ETCH_ABI_NAMESPACE {                                                                      \
    template Status tokenize(const Tables&, std::string_view, SpecialTokens, void*, const TokenSink&,          \
                             Tokenized&) noexcept;                                                             \
    template Status tokenize_pair(const Tables&, std::string_view, std::string_view, SpecialTokens, void*,     \
                                  const TokenSink&, Tokenized&) noexcept;                                      \
    template Status open_stream(const Tables&, std::string_view, SpecialTokens, void*, TokenStream&) noexcept; \
    template void read_stream(const Tables&, std::uint32_t, std::uint32_t, TokenStream&) noexcept;             \
    }                                                                                                          \
    }
