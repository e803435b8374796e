// SPDX-License-Identifier: Apache-2.0
// The lines that use a model with several heads, and the line that a text, or two with a TAB between them, gets back:
// of each head its name and what a model of this head alone would say. In steps.
#include <type_traits>

#include "answer.hpp"
#include "board.hpp"
#include "fields.hpp"
#include "parts.hpp"

namespace firmware {
namespace {

// Where what a head finds goes, of heads that need a place for it.
template <class Head, class Result>
void prepare_head(const Session& session, Result& result) {
    if constexpr (Head::kTask == etch::Task::tagging) {
        static std::remove_pointer_t<decltype(result.spans)> spans[model::kMaxTokens];
        result.spans = spans;
        result.capacity = model::kMaxTokens;
        result.aggregation = session.aggregation;
    } else if constexpr (Head::kTask == etch::Task::fill_mask) {
        static std::remove_pointer_t<decltype(result.candidates)> candidates[kShownMasks * kMostPieces];
        result.candidates = candidates;
        result.capacity = kShownMasks;
        result.top = kMostPieces;
    }
}

template <class Value>
void print_count(const Value& count, std::string_view what) {
    print("\t");
    print(std::uint64_t{count});
    print(what);
}

void print_label(std::string_view name, float probability) {
    print("\t");
    print(name);
    print("\t");
    print(PerCent{probability});
}

// Behind the head's name.
template <class Head, class Result>
void print_head(const Session& session, const Result& result) {
    const bool shows_bits = session.shows_bits;
    if constexpr (Head::kTask == etch::Task::single_label) {
        print_label(Head::name(result.label), result.probability[result.label]);
        if (shows_bits) print_bits(result.logits, Head::kWidth);
    } else if constexpr (Head::kTask == etch::Task::multi_label) {
        print_count(Head::kWidth, " labels");
        for (std::uint32_t i = 0; i < Head::kWidth; ++i)
            print_label(Head::name(i), result.probability[i]);
        if (shows_bits) print_bits(result.logits, Head::kWidth);
    } else if constexpr (Head::kTask == etch::Task::next_sentence) {
        print_label("follows", result.probability);
        if (shows_bits) print_bits(result.logits, Head::kWidth);
    } else if constexpr (Head::kTask == etch::Task::tagging) {
        print_count(result.count, " entities");
        const std::uint32_t first =
            session.aggregation == etch::Aggregation::none ? 0 : Head::kWidth;  // labels, then entities
        for (std::uint32_t i = 0; i < result.count; ++i)
            print_span(Head::name(first + result.spans[i].label), result.spans[i], shows_bits);
    } else if constexpr (Head::kTask == etch::Task::fill_mask) {
        print_count(result.count, " masks");
        const std::uint32_t shown = result.count < kShownMasks ? result.count : kShownMasks;
        for (std::uint32_t i = 0; i < shown * kMostPieces; ++i)
            print_candidate(result.candidates[i], shows_bits);
    } else if constexpr (Head::kTask == etch::Task::regression) {
        print_count(Head::kWidth, " values");
        print_bits(result.value, Head::kWidth);
    } else if constexpr (Head::kTask == etch::Task::embedding) {
        print_count(Head::kWidth, " values");
        if (shows_bits) print_bits(result.embedding, Head::kWidth);
    }
}

}  // namespace

void answer(Session& session, std::string_view line) {
    const std::size_t tab = field_end(line);
    board::restart_clock();
    begun(session, tab == line.size() ? model::begin(session.workspace, line)
                                      : model::begin_pair(session.workspace, line.substr(0, tab), behind(line, tab)));
}

void prepare(const Session& session, model::Result& result) {
    model::each_head(result, [&session](const auto& head, auto& of_head) {
        of_head = {};
        prepare_head<std::decay_t<decltype(head)>>(session, of_head);
    });
}

void print_answer(Session& session, etch::Status status, const model::Result& result) {
    if (status != etch::Status::ok) {
        print_line("error not-analyzed: ", etch::describe(status));
        return;
    }
    print_tokens(result.tokens, result.truncated);
    model::each_head(result, [&session](const auto& head, const auto& of_head) {
        using Head = std::decay_t<decltype(head)>;
        print("\t");
        print(Head::kName);
        print_head<Head>(session, of_head);
    });
    print("\n");
}

}  // namespace firmware
