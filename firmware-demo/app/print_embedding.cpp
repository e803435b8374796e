// SPDX-License-Identifier: Apache-2.0
// The line that a text gets back from a model that embeds: how near it is to the text before.
#include <cstring>

#include "answer.hpp"
#include "etch/similarity.hpp"
#include "parts.hpp"

namespace firmware {
namespace {

float before[model::kEmbeddingWidth];  // of the text before; zeros: there was none, and no text is near it

}  // namespace

void prepare(const Session&, model::Result&) {}

void print_answer(Session& session, etch::Status status, const model::Result& result) {
    if (status != etch::Status::ok) {
        print_line("error not-embedded: ", etch::describe(status));
        return;
    }
    const float cosine = etch::cosine_similarity(before, result.embedding, model::kEmbeddingWidth);
    std::memcpy(before, result.embedding, sizeof before);
    print("cosine ");
    if (cosine < 0) print("-");
    print(PerCent{cosine < 0 ? -cosine : cosine});
    print("\t");
    print_tokens(result.tokens, result.truncated);
    if (session.shows_bits) print_bits(result.embedding, model::kEmbeddingWidth);
    print("\n");
}

}  // namespace firmware
