// SPDX-License-Identifier: Apache-2.0
// Calls of a model that searches with beams. What is written is known when the search is over, and then handed over at
// once.
//
// Beside what any Generator has (generation.hpp), one with kBeams > 1 has
//     SearchRules kSearch                how it searches
//     kRoom                              rows of a slot in the caches, a multiple of kPanelWidth
//     copy(run, copies, a)               rows in the caches of all layers
// and the arena `a` has, for all of a call, `beams`, and for all passes `written` [kRules.max_tokens][kBeams],
// `parents` as many, and `path` [kRules.max_tokens]; with restrictions `history` [kBeams][kRules.max_tokens].
#pragma once

#include <cstdint>

#include "etch/decode/beams.hpp"
#include "etch/decode/generation.hpp"
#include "etch/step_cursor.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// Tokens that are read before the first one is written.
template <class Generator>
std::uint32_t read_before(const typename Generator::Encoder::Arena& a) noexcept {
    return Generator::kRules.begin_count == 0 ? a.texts[0].count : Generator::kRules.begin_count;
}

template <class Generator>
const std::int32_t* begin_of(const typename Generator::Encoder::Arena& a) noexcept {
    return Generator::kRules.begin_count == 0 ? a.ids : Generator::kRules.begin;
}

// The state of the decoder before anything is written.
template <class Generator>
DecoderState first_spelling([[maybe_unused]] const typename Generator::Encoder::Arena& a) noexcept {
    if constexpr (Generator::kRules.begin_count == 0) return Generator::spelling_behind(a.ids, a.texts[0].count);
    return {};
}

// Whether a call searches: it may be told to take fewer beams, and is greedy with one.
template <class Generator>
bool searches([[maybe_unused]] const typename Generator::Encoder::Arena& a) noexcept {
    if constexpr (Generator::kBeams > 1) return a.beams->count > 1;
    return false;
}

// `asked` 0: as many beams as there are; more count as that.
template <class Generator>
void begin_search([[maybe_unused]] const typename Generator::Encoder::Arena& a,
                  [[maybe_unused]] std::uint32_t asked) noexcept {
    if constexpr (Generator::kBeams > 1) {
        const bool fewer = asked != 0 && asked < Generator::kBeams;
        begin_beams(fewer ? asked : Generator::kBeams, a.texts[0].count, *a.beams);
    }
}

// Entries whose logits are there at a time, of so many rows. All where something has to change them, or draws.
template <class Generator>
constexpr std::uint32_t entries_of(std::uint32_t rows) noexcept {
    constexpr std::uint32_t vocabulary = Generator::kRules.vocabulary;
    return Generator::kAllLogits ? vocabulary : entries_at_once(vocabulary, rows);
}

// Of a pass the logits of some entries, and which tokens they add to those that may come next.
template <class Generator, class Runner>
void search_among(const Runner& run, const typename Generator::Encoder::Arena& a, const RowBlock& entries) noexcept {
    Beams& beams = *a.beams;
    Generator::project(run, {0, beams.active}, entries, a);
    const F32Rows logits{Generator::logits(a), entries.count};
    if constexpr (Generator::kRules.restrictions != nullptr) {
        run(RestrictBeams{Generator::kRules,
                          Generator::kSearch,
                          {a.written, a.parents},
                          begin_of<Generator>(a),
                          read_before<Generator>(a),
                          a.history,
                          logits,
                          beams});
    }
    run(NextTokens{Generator::kRules, a.writing->most, entries, logits, beams});
}

// The next pass: reads `before`, a token that all begin with, or, null, that of each beam; `chooses` once there are no
// more of the former.
template <class Generator, class Runner>
void search_some(const Runner& run, const typename Generator::Encoder::Arena& a, const std::int32_t* before,
                 bool chooses) noexcept {
    Beams& beams = *a.beams;
    if (beams.copies > 0) Generator::copy(run, CacheCopies{beams.copied, beams.copies}, a);
    const Texts steps{beams.rows, beams.active};
    Generator::read(run, Texts{beams.texts, 1}, steps, before != nullptr ? before : beams.tokens, a);
    if (!chooses) return;
    Generator::choose(run, beams.active, a);
    for (const RowBlock entries : RowBlocks(Generator::kRules.vocabulary, entries_of<Generator>(beams.active)))
        search_among<Generator>(run, a, entries);
    run(ContinueBeams{
        Generator::kRules, Generator::kSearch, a.writing->most, Generator::kRoom, beams, {a.written, a.parents}});
}

// One of the sequences that were found, into an empty `writing`.
template <class Generator, class Target>
void hand_over(const typename Generator::Encoder::Arena& a, std::uint32_t rank, const Target& target) noexcept {
    const EndedSequence& sequence = a.beams->ended[rank];
    ids_of(sequence, Generator::kSearch, {a.written, a.parents}, a.path);
    Writing& writing = *a.writing;
    writing.count = writing.bytes = 0;
    writing.spelling = first_spelling<Generator>(a);
    writing.score = sequence.score;
    writing.ended = sequence.ended;
    while (writing.count < sequence.length) {
        if (!target.add(writing, a.path[writing.count])) {
            writing.ended = Ended::capacity;
            return;
        }
        ++writing.count;
    }
}

// Of a call that is over: how many sequences it has found, for write_found().
template <class Generator, class Workspace>
void note_found([[maybe_unused]] Workspace& workspace, [[maybe_unused]] const typename Generator::Encoder::Arena& a,
                [[maybe_unused]] bool truncated) noexcept {
    if constexpr (Generator::kBeams > 1) {
        workspace.cursor.truncated = truncated;
        workspace.cursor.found = static_cast<std::uint8_t>(a.beams->found);
    }
}

// Behind a pass: whether the search is over.
template <class Generator>
bool ends_search(const typename Generator::Encoder::Arena& a) noexcept {
    Beams& beams = *a.beams;
    const std::uint32_t position = a.writing->position;
    if (beams.length == 0) beams.rows[0] = {0, 1, position, position + 1, 0};
    return beams.done;
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
