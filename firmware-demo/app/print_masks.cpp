// SPDX-License-Identifier: Apache-2.0
// The line that a text gets back from a model that fills masks: how many masks, then of each the likeliest pieces with
// their per cent.
#include "answer.hpp"
#include "print.hpp"

namespace firmware {
namespace {

constexpr std::uint32_t kShownMasks = 16;
constexpr std::uint32_t kBest = model::kMostCandidates < 3 ? model::kMostCandidates : 3;
constexpr std::size_t kPieceBytes = 64;  // of a longer one the beginning

etch::Candidate candidates[kShownMasks * kBest];

void print_candidate(const etch::Candidate& candidate, bool shows_bits) {
    char text[kPieceBytes];
    const std::size_t size = model::piece(candidate.id, text, sizeof text);
    print("\t");
    print(Escaped{{text, size < sizeof text ? size : sizeof text}});
    print("\t");
    print(PerCent{candidate.probability});
    if (shows_bits) {
        print("\t");
        print(Bits{candidate.probability});
    }
}

}  // namespace

void prepare(model::Result& result) {
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
    print(std::uint64_t{result.tokens});
    print(" tokens\t");
    print(result.truncated ? "truncated" : "whole");
    const std::uint32_t shown = result.count < kShownMasks ? result.count : kShownMasks;
    for (std::uint32_t i = 0; i < shown * kBest; ++i)
        print_candidate(candidates[i], session.shows_bits);
    print("\n");
}

}  // namespace firmware
