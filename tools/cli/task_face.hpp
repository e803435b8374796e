// SPDX-License-Identifier: Apache-2.0
// What a task has of its own in the program. tasks/VERB.cpp defines it, compiled once for all models; tasks/VERB.hpp
// says which one a model has. What no model of a program has is not linked.
#pragma once

#include <cstdint>
#include <string>

#include "commands/compare_texts.hpp"
#include "model.hpp"
#include "options.hpp"

namespace etch::cli {

inline constexpr std::size_t kMostParts = 8;

// What comes first in the object of an answer, keys by append_key(): tasks/VERB_json.cpp, which a page in a browser
// links, too, without the rest of a program.
using AppendFields = void(std::string& out, const Options& options, const Text& text, const Answer& answer);
AppendFields append_label;
AppendFields append_label_set;
AppendFields append_values;
AppendFields append_embedding;
AppendFields append_weights;
AppendFields append_entities;
AppendFields append_masks;
AppendFields append_answers;
AppendFields append_next_sentence;
AppendFields append_choices;
AppendFields append_zero_shot;
AppendFields append_heads;
AppendFields append_vectors;

struct TaskFace {
    const char* does;                        // what its models do: "classifies texts"
    const OptionGroup* options[kMostParts];  // beside those of every task; the rest is null
    void (*check)(const Options& options);   // refuses options that contradict each other

    // Of --help; each begins on a line of its own.
    const char* input_help;                // where texts may come from else; may be null
    const char* output_help;               // an answer's lines
    const char* rest_of_help[kMostParts];  // what else it can do, --evaluate last; the rest is null
    std::string (*described)();            // the model, behind its length

    const char* cut;  // format of what is said of a text that has more than %u tokens

    // An answer as a line of output, and what of it comes first in its object: keys by append_key().
    std::string (*as_text)(const Options& options, const Text& text, const Answer& answer);
    AppendFields* append_fields;

    void (*evaluate)(const Options& options);
    RowTexts row;

    bool writes = false;  // answers come token by token, and --latency says when

    // How alike two texts are, each on its own, where the task says it. A text that the model refuses ends the program
    // with `where` and exit code 1.
    Similarity (*compare)(std::string_view first, std::string_view second, const std::string& where) = nullptr;

    const char* usage = " [OPTION…] [TEXT…]";  // behind the program's name
};

}  // namespace etch::cli
