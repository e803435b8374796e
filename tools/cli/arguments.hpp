// SPDX-License-Identifier: Apache-2.0
// The command line: what the program was asked to do. Anything that cannot be obeyed ends it with exit code 2.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "etch/text_pair.hpp"
#include "model.hpp"

namespace etch::cli {

enum class Mode : std::uint8_t { texts, similarity, evaluate, latency, memory, self_test, kernel_list, version, help };

// What the text columns of a table are: one text, two of them, or a prompt and its choices.
enum class RowTexts : std::uint8_t { joined, two, choices };

inline constexpr std::uint32_t kTop = 5;

struct Options {
    Mode mode = Mode::texts;

    std::vector<std::string_view> texts;   // TEXT…
    std::vector<TextPair> pairs;           // --pair A B, as often as wanted
    std::vector<TextPair> compared;        // --similarity A B, likewise
    std::optional<std::string_view> file;  // --file; "-" is standard input
    bool pair_lines = false;               // --pairs
    bool json = false;
    bool tokens = false;
    bool plain_text = false;
    std::optional<std::uint32_t> top;  // labels, pieces or answers shown; default kTop, of answers one
    Wanted wanted;
    bool probabilities = false;
    bool logits = false;
    bool rows = false;

    std::optional<std::string_view> question;      // --question,
    std::optional<std::string_view> context;       // of --context
    std::optional<std::string_view> context_file;  // or of a file as a whole

    std::optional<std::string_view> prompt;  // --prompt; TEXT… are its choices

    // Of a model that embeds what is written before a text, and before the second of two that are compared.
    std::optional<std::string_view> text_prompt;
    std::optional<std::string_view> second_prompt;

    bool chat = false;                       // --chat: texts are a user's messages,
    std::optional<std::string_view> system;  // --system, behind a system's
    bool turns = false;                      // --turns: lines are messages of one conversation

    std::string_view table;                        // --evaluate
    std::optional<std::string_view> head;          // --head: of several the one that is judged,
    std::optional<RowTexts> head_texts;            // and what it reads of a row
    std::string_view label_column = "1";           // number from 1, or name; of scores where there are no labels
    std::optional<std::string_view> text_columns;  // comma-separated; default: every other column
    std::optional<std::string_view> label_values;  // --labels
    std::optional<bool> header;
    bool confusion = false;        // --confusion
    std::size_t limit = SIZE_MAX;  // rows

    std::optional<std::string_view> kernel;
    std::uint32_t threads = 1;  // 0: as many as the system allows
    bool huge_pages = false;

    std::optional<std::uint32_t> gpu;             // --device cuda:N; none: the CPU computes
    std::optional<std::string_view> device_mode;  // --mode exact or fast
};

Options parse_arguments(int argc, const char* const* argv);

}  // namespace etch::cli
