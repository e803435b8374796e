// SPDX-License-Identifier: Apache-2.0
// The line that a text gets back from a model that fills masks: how many masks, then of each the likeliest pieces with
// their per cent.
#include "answer.hpp"
#include "parts.hpp"

namespace firmware {
namespace {

constexpr std::uint32_t kBest = model::kMostCandidates < kMostPieces ? model::kMostCandidates : kMostPieces;

etch::Candidate candidates[kShownMasks * kBest];

}  // namespace

void prepare(const Session&, model::Result& result) {
    result = {};
    result.candidates = candidates;
    result.capacity = kShownMasks;
    result.top = kBest;
}

void print_answer(Session& session, etch::Status status, const model::Result& result) {
    if (status != etch::Status::ok) {
        print_line("error not-filled: ", etch::describe(status));
        return;
    }
    print(std::uint64_t{result.count});
    print(" masks\t");
    print_tokens(result.tokens, result.truncated);
    const std::uint32_t shown = result.count < kShownMasks ? result.count : kShownMasks;
    for (std::uint32_t i = 0; i < shown * kBest; ++i)
        print_candidate(candidates[i], session.shows_bits);
    print("\n");
}

}  // namespace firmware
