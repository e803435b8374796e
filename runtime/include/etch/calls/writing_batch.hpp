// SPDX-License-Identifier: Apache-2.0
// Several texts that a model writes for: as many as it has beams share the passes of tokens, those that have ended
// leave. Each has a slot in the caches and a `writing` of its own; the bits are those of one after the other. Where a
// call searches, its beams have the slots, and there is one text at a time.
//
// The arena `a` of a Generator with kBeams > 1 has `writing` [kBeams]; `written` are kBeams parts of kRules.max_tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/calls/generation.hpp"
#include "etch/ops/texts.hpp"
#include "etch/text_list.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace calls {

// What is read: texts (TextList), or token ids: those of text i are ids [begins[i], begins[i + 1]).
struct TokenLists {
    const std::int32_t* ids;
    const std::uint32_t* begins;  // [count + 1], ascending

    TokenIds operator[](std::size_t i) const noexcept { return {ids + begins[i], nullptr, begins[i + 1] - begins[i]}; }
    bool has_one_in(const Written& memory, std::size_t count) const noexcept {
        return memory.holds(begins, (count + 1) * sizeof *begins) ||
               memory.holds(ids + begins[0], std::size_t{begins[count] - begins[0]} * sizeof *ids);
    }
    bool is_in(const Written& memory, std::size_t first, std::size_t count) const noexcept {
        return memory.holds(begins + first, (count - first + 1) * sizeof *begins);
    }
};

// Tokens that are known before a text is read.
inline std::uint32_t known_tokens(const Text&) noexcept {
    return 0;
}
inline std::uint32_t known_tokens(const TokenIds& input) noexcept {
    return input.count;
}

// The arena as the text in this slot has it.
template <class Generator>
typename Generator::Encoder::Arena slot_of(const typename Generator::Encoder::Arena& all, std::uint32_t slot) noexcept {
    typename Generator::Encoder::Arena a = all;
    const std::uint32_t first = a.texts[slot].first;
    a.ids += first;
    a.segments += first;
    a.texts += slot;
    a.writing += slot;
    a.written += std::size_t{slot} * Generator::kRules.max_tokens;
    return a;
}

// The first texts of [0, count), as many as there are slots and as fit the arena together; `truncated` says of each
// whether it was cut, which only the first one is. Their number, or why one is refused.
template <class Generator, class Workspace, class Inputs>
[[gnu::noinline]] Status begin_group(Workspace& workspace, const Inputs& inputs, std::size_t done, std::size_t count,
                                     const typename Generator::Encoder::Arena& a, std::uint32_t& taken,
                                     bool& truncated) noexcept {
    constexpr std::uint32_t most = Generator::Encoder::kLimits.max_tokens;
    std::uint32_t first = 0;
    std::uint32_t place = 0;
    for (taken = 0; taken < Generator::kBeams && done + taken < count; ++taken) {
        if (taken != 0 && place + kPanelWidth > most) break;
        const auto input = input_of(inputs[done + taken]);
        if (taken != 0 && known_tokens(input) > most - place) break;
        a.texts[taken].first = first;
        Tokenized tokens{};
        const typename Generator::Encoder::Arena slot = slot_of<Generator>(a, taken);
        const std::size_t number = done + taken;
        const Status status =
            begin_writing<Generator>(workspace, input, slot, most - place, static_cast<std::uint32_t>(number), tokens);
        if (tokens.truncated && taken != 0) break;
        if (status != Status::ok) return status;
        a.texts[taken] = whole_text(tokens.count, first, place);
        if (taken == 0) truncated = tokens.truncated;
        first += tokens.count;
        place += static_cast<std::uint32_t>(round_up(tokens.count, kPanelWidth));
    }
    return Status::ok;
}

// What the next pass reads of the texts in these slots, to the arena's beams, which no search has. Whether one of them
// has a token to be chosen behind it.
//
// None of these functions is inlined into another: each has a slot's arena on the stack, and the ops none of them.
template <class Generator>
[[gnu::noinline]] bool begin_pass(const typename Generator::Encoder::Arena& a, const std::uint8_t* slots,
                                  std::uint32_t count) noexcept {
    bool chooses = false;
    for (std::uint32_t i = 0; i < count; ++i) {
        const typename Generator::Encoder::Arena slot = slot_of<Generator>(a, slots[i]);
        const std::uint32_t position = slot.writing->position;
        a.beams->rows[i] = {i, 1, position, position + 1, slots[i] * Generator::kRoom};
        a.beams->tokens[i] = *next_read<Generator>(slot);
        a.beams->texts[i] = {i, 1, 0, slot.texts->keys, slot.texts->place};
        chooses |= has_read_all<Generator>(slot);
    }
    return chooses;
}

template <class Generator, class Runner>
[[gnu::noinline]] void choose_in(const Runner& run, const typename Generator::Encoder::Arena& a, std::uint32_t slot,
                                 const RowBlock& entries, float* logits) noexcept {
    const typename Generator::Encoder::Arena of_text = slot_of<Generator>(a, slot);
    if (has_read_all<Generator>(of_text)) choose_next<Generator>(run, of_text, entries, logits);
}

// Of these rows of a pass, whose texts are in these slots, the logits of some entries, and what they say of the tokens.
template <class Generator, class Runner>
[[gnu::noinline]] void choose_among(const Runner& run, const typename Generator::Encoder::Arena& a,
                                    const std::uint8_t* slots, const RowBlock& rows, const RowBlock& entries) noexcept {
    Generator::project(run, rows, entries, a);
    const F32Rows logits{Generator::logits(a), entries.count};
    for (std::uint32_t i = 0; i < rows.count; ++i)
        choose_in<Generator>(run, a, slots[rows.first + i], entries, logits.from(i).data);
}

template <class Generator, class Target>
[[gnu::noinline]] bool ends_in(const typename Generator::Encoder::Arena& a, std::uint32_t slot,
                               const Target& target) noexcept {
    return ends_writing<Generator>(slot_of<Generator>(a, slot), target);
}

template <class Generator, class Target>
[[gnu::noinline]] void finish_in(const typename Generator::Encoder::Arena& a, std::uint32_t slot, const Target& target,
                                 bool truncated, typename Generator::Result& result) noexcept {
    finish_writing<Generator>(slot_of<Generator>(a, slot), target, truncated, result);
}

// The token behind each row of a pass.
template <class Generator, class Runner>
[[gnu::noinline]] void choose_some_of(const Runner& run, const typename Generator::Encoder::Arena& a,
                                      const std::uint8_t* slots, std::uint32_t count) noexcept {
    Generator::choose(run, count, a);
    const std::uint32_t at_once = draws<Generator>(a) && !Generator::kAllLogits ? 1 : count;
    for (const RowBlock rows : RowBlocks(count, at_once)) {
        for (const RowBlock entries : RowBlocks(Generator::kRules.vocabulary, entries_of<Generator>(at_once)))
            choose_among<Generator>(run, a, slots, rows, entries);
    }
}

// A pass for the texts in these slots: reads a token of each. Whether one of them has a token to be chosen behind it.
template <class Generator, class Runner>
[[gnu::noinline]] bool read_some_of(const Runner& run, const typename Generator::Encoder::Arena& a,
                                    const std::uint8_t* slots, std::uint32_t count) noexcept {
    const bool chooses = begin_pass<Generator>(a, slots, count);
    const Beams& beams = *a.beams;
    Generator::read(run, Texts{beams.texts, count}, Texts{beams.rows, count}, beams.tokens, a);
    return chooses;
}

// The slots of the texts of a group that have not ended, to slots [kBeams]; their number.
template <class Generator>
[[gnu::noinline]] std::uint32_t going_slots(const typename Generator::Encoder::Arena& a, std::uint32_t group,
                                            std::uint8_t* slots) noexcept {
    std::uint32_t left = 0;
    for (std::uint32_t slot = 0; slot < group; ++slot)
        if (!a.writing[slot].over) slots[left++] = static_cast<std::uint8_t>(slot);
    return left;
}

// Those of `count` slots whose texts go on: behind a pass, else those with room. The others end; a text that was cut,
// as `truncated` says, has left no room for another one.
template <class Generator, class Targets>
[[gnu::noinline]] std::uint32_t still_going(const typename Generator::Encoder::Arena& a, std::uint8_t* slots,
                                            std::uint32_t count, bool behind_pass, const Targets& target_of,
                                            bool truncated, typename Generator::Result* results) noexcept {
    std::uint32_t left = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t slot = slots[i];
        const auto target = target_of(slot);
        if (behind_pass ? ends_in<Generator>(a, slot, target) : has_no_room(a.writing[slot], target)) {
            finish_in<Generator>(a, slot, target, truncated, results[slot]);
        } else {
            slots[left++] = slots[i];
        }
    }
    return left;
}

// Texts of one group, which has begun, until all have ended; `target_of` and `results` are theirs.
template <class Generator, class Workspace, class Targets>
[[gnu::noinline]] Status write_group(Workspace& workspace, const typename Generator::Encoder::Arena& a,
                                     std::uint32_t count, bool truncated, const Targets& target_of,
                                     typename Generator::Result* results) noexcept {
    using Encoder = typename Generator::Encoder;
    std::uint8_t slots[Generator::kBeams];
    std::uint32_t left = going_slots<Generator>(a, count, slots);
    left = still_going<Generator>(a, slots, left, false, target_of, truncated, results);
    if (left == 0) return Status::ok;
    const OpContext context{chosen_kernels(Encoder::kKernels, workspace.kernels), a.scratch};
    const SharingRunner run{context, workspace.executor, Encoder::kScratchBytes};
    Encoder::forward(run, Texts{a.texts, count}, a);
    while (left != 0) {
        if (read_some_of<Generator>(run, a, slots, left)) choose_some_of<Generator>(run, a, slots, left);
        if (run.status() != Status::ok) return run.status();
        left = still_going<Generator>(a, slots, left, true, target_of, truncated, results);
    }
    return Status::ok;
}

// One text after the other, each a call of its own: of one that fails nothing is found.
template <class Generator, class Workspace, class Inputs, class Targets>
[[gnu::noinline]] Status write_each(Workspace& workspace, const Inputs& inputs, std::size_t count,
                                    const Targets& target_of, typename Generator::Result* results) noexcept {
    for (std::size_t i = 0; i < count; ++i) {
        const typename Generator::Encoder::Arena a = arena_of<typename Generator::Encoder>(workspace);
        const auto number = static_cast<std::uint32_t>(i);
        const Status status =
            write_alone<Generator>(workspace, input_of(inputs[i]), a, number, target_of(i), results[i]);
        if (status != Status::ok) return status;
    }
    return Status::ok;
}

// As many at a time as there is room for.
template <class Generator, class Workspace, class Inputs, class Targets>
[[gnu::noinline]] Status write_groups(Workspace& workspace, const Inputs& inputs, std::size_t count,
                                      const Targets& target_of, typename Generator::Result* results) noexcept {
    const typename Generator::Encoder::Arena a = arena_of<typename Generator::Encoder>(workspace);
    std::uint32_t taken = 0;
    for (std::size_t done = 0; done < count; done += taken) {
        bool truncated = false;
        Status status = begin_group<Generator>(workspace, inputs, done, count, a, taken, truncated);
        if (status != Status::ok) return status;
        const auto target_in = [&](std::uint32_t slot) { return target_of(done + slot); };
        status = write_group<Generator>(workspace, a, taken, truncated, target_in, results + done);
        if (status != Status::ok) return status;
    }
    return Status::ok;
}

// `target_of(i)` is where text i goes, `written` all of that memory.
template <class Generator, class Workspace, class Inputs, class Targets>
Status write_batch(Workspace& workspace, const Inputs& inputs, std::size_t count, const Targets& target_of,
                   const Written& written, typename Generator::Result* results) noexcept {
    const Turn turn{workspace};
    if (!turn) return turn.refusal();
    workspace.cursor = {};
    if (count == 0) return Status::ok;
    const Written told{results, count * sizeof *results};
    if (inputs.has_one_in(written, count) || inputs.has_one_in(told, count)) return Status::text_overlaps;
    const auto overlap = [&](const Written& memory) {
        return written.holds(memory.data, memory.bytes) || told.holds(memory.data, memory.bytes) ||
               inputs.has_one_in(memory, count);
    };
    if (in_memory_of(workspace, overlap)) return Status::text_overlaps;
    if constexpr (Generator::kBeams > 1) {
        if (is_greedy<Generator>(workspace))
            return write_groups<Generator>(workspace, inputs, count, target_of, results);
    }
    return write_each<Generator>(workspace, inputs, count, target_of, results);
}

}  // namespace calls
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
