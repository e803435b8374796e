// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// What a model answers with: one label of several (softmax), labels that hold independently of each other (sigmoid),
// values, a vector, labels of tokens, what may stand where a mask is, spans of a context, a text for a text, a summary
// of it, what goes on with a text, whether a text follows another, which choice goes with a prompt, which of the labels
// that a call brings hold, weights of a vocabulary's entries, several of these at once, or a vector for each token.
enum class Task : std::uint8_t {
    single_label,
    multi_label,
    regression,
    embedding,
    tagging,
    fill_mask,
    answering,
    translation,
    summarization,
    generation,
    next_sentence,
    multiple_choice,
    zero_shot,
    sparse_embedding,
    several,
    multi_vector,
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
