// SPDX-License-Identifier: Apache-2.0
// What lies between a segmenter and a model: the word that is being read.
#pragma once

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

// A segmenter appends characters and ends words; the model writes their pieces:
//     Words(const Model&, SpecialTokens, void* scratch, TokenWriter&)
//     bool empty() const
//     void append(const Unit&)
//     void end()                       writes the pieces of the word, if there is one, and begins another
//     void write_token(const TokenMatch&)  an added token, between words
//     bool one_more_is_certain() const the word, not yet at its end, will write at least one token more
template <class Model>
class Words;

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
