// SPDX-License-Identifier: Apache-2.0
// Normalized characters to words.
#pragma once

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// Over the words of some model:
//     Segmenter(const Part&, Words&)
//     void take(const Unit&)      the next character
//     void end()                  the text ends, or an added token stands here
//     template <class Cursor> void read_ahead(Cursor&, std::string_view text, RawSplitter&, const TokenWriter&, enough)
//                                 may read what it can read faster by itself, until more than `enough` tokens are there
template <class Part, class Model>
class Segmenter;

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
