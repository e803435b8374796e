// SPDX-License-Identifier: Apache-2.0
#include "sample_text.hpp"

#include "../failure.hpp"

namespace etch::cli {
namespace {

constexpr std::string_view kParagraph =
    "The harbour council voted on Tuesday to rebuild the old ferry terminal, ending two years of argument over its "
    "cost. "
    "Engineers expect the first boats to leave in spring, when the ice is gone and the evenings grow long enough for a "
    "second crossing. Shops along the quay welcomed the news; fishermen, who will lose a third of their moorings, "
    "asked "
    "for a new basin further north. A report that compared 14 towns of similar size found that traffic rose by 9 per "
    "cent "
    "in the first year and fell back to its usual level in the third. ";

}  // namespace

std::string sample_text(std::uint32_t tokens) {
    std::string text;
    do {
        text += kParagraph;  // about 110 tokens, more than one for every 5 bytes
    } while (text.size() / 6 < tokens);
    return text;
}

std::vector<std::int32_t> sample_ids(std::uint32_t count) {
    Tokens tokens = {};
    const Status status = encode({sample_text(kModel.max_tokens), {}, false}, tokens);
    if (status != Status::ok || tokens.count == 0) {
        fail(kRunFailure, "the sample text: %s", status != Status::ok ? describe(status) : "no tokens");
    }
    // Everything between the special tokens, again and again where the vocabulary makes too few tokens of the text.
    const std::uint32_t body = tokens.count > 2 ? tokens.count - 2 : 1;
    std::vector<std::int32_t> ids(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        const bool end = i == count - 1 && i > 0;
        ids[i] = i == 0 ? tokens.ids[0] : end ? tokens.ids[tokens.count - 1] : tokens.ids[1 + (i - 1) % body];
    }
    return ids;
}

}  // namespace etch::cli
