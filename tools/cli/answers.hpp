// SPDX-License-Identifier: Apache-2.0
// An answer as a line of output.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "model.hpp"

namespace etch::cli {

// The labels that a model of several gives to a text: those with a probability of 0.5 or more.
std::vector<std::uint32_t> present_labels(const Answer& answer);

// {"label": …, "probability": …, "logits": […], "tokens": …, "truncated": …}; where a text may have several labels,
// with "labels": […], "probabilities": […] before the logits; for values and embeddings "values": […] or "embedding":
// […] in place of what is said of labels. Of a tagger {"entities": [{"label": …, "score": …, "start": …, "end": …,
// "text": …}, …], …}, and with --probabilities those of each token.
std::string answer_as_json(const Options& options, std::string_view text, const Answer& answer);

// {"ids": […], "pieces": […], "offsets": [[start, end], …], "truncated": …}
std::string tokens_as_json(const Tokens& tokens);

// Labels: the `top` most probable, best first, label TAB probability TAB label TAB probability …
// Values and embeddings: all of them with a space between, in 9 significant digits, which give the same floats back.
// Spans: label TAB text TAB score TAB begin TAB end of each, the next one behind it.
std::string answer_as_text(const Options& options, std::string_view text, const Answer& answer);

}  // namespace etch::cli
