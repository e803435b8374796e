// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <string>

#include "failure.hpp"
#include "model.hpp"
#include "number.hpp"

namespace etch::cli {
namespace {

constexpr unsigned bit(Mode mode) {
    return 1U << static_cast<unsigned>(mode);
}

constexpr unsigned bit(Task task) {
    return 1U << static_cast<unsigned>(task);
}

constexpr unsigned kTexts = bit(Mode::texts);
constexpr unsigned kRows = bit(Mode::evaluate);
constexpr unsigned kLines = kTexts | bit(Mode::similarity);
constexpr unsigned kAnswers = kLines | kRows;
constexpr unsigned kRuns = kAnswers | bit(Mode::latency) | bit(Mode::memory) | bit(Mode::self_test);
constexpr unsigned kOnDevice = kAnswers | bit(Mode::latency) | bit(Mode::memory);
constexpr unsigned kChoosesMode = 0;  // the option says what to do; two that disagree are refused

constexpr unsigned kLabels = bit(Task::single_label) | bit(Task::multi_label);
constexpr unsigned kEmbeddings = bit(Task::embedding);
constexpr unsigned kTags = bit(Task::tagging);
constexpr unsigned kMasks = bit(Task::fill_mask);
constexpr unsigned kAnswering = bit(Task::answering);
constexpr unsigned kTables = kLabels | bit(Task::regression) | kEmbeddings | kMasks;  // rows are evaluated
constexpr unsigned kAnyTask = kTables | kTags | kAnswering;

using Values = const std::string_view*;

std::uint32_t number(std::string_view option, std::string_view text, std::uint32_t low, std::uint32_t high) {
    const std::optional<std::uint64_t> value = parse_number(text);
    if (!value || *value < low || *value > high) {
        fail(kWrongUse, "%s: expected a number from %u to %u, got %s", std::string(option).c_str(), low, high,
             quoted(text).c_str());
    }
    return static_cast<std::uint32_t>(*value);
}

// The number of a GPU, none for the CPU.
std::optional<std::uint32_t> read_device(std::string_view text) {
    constexpr std::string_view kCuda = "cuda";
    if (text == "cpu") {
        return std::nullopt;
    }
    if (text == kCuda) {
        return 0;
    }
    if (text.substr(0, kCuda.size() + 1) != "cuda:") {
        fail(kWrongUse, "--device: expected cpu, cuda or cuda:N, got %s", quoted(text).c_str());
    }
    return number("--device cuda:N", text.substr(kCuda.size() + 1), 0, 1023);
}

Aggregation read_aggregation(std::string_view text) {
    constexpr std::string_view kNames[] = {"none", "simple", "first", "average", "max"};
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
        if (text == kNames[i]) {
            return static_cast<Aggregation>(i);
        }
    }
    fail(kWrongUse, "--aggregation: expected none, simple, first, average or max, got %s", quoted(text).c_str());
}

struct Option {
    std::string_view name;
    int values;
    unsigned modes;  // in which the option means something, or kChoosesMode
    Mode mode;       // chosen, where modes == kChoosesMode
    unsigned tasks;  // of the models that it goes with
    void (*apply)(Options&, Values);
};

constexpr Mode kNone = Mode::texts;

const Option kOptions[] = {
    {"--file", 1, kTexts, kNone, kAnyTask, [](Options& o, Values v) { o.file = v[0]; }},
    {"--pair", 2, kTexts, kNone, kTables | kAnswering,
     [](Options& o, Values v) {
         o.pairs.push_back({v[0], v[1]});
     }},
    {"--pairs", 0, kTexts | kRows, kNone, kTables | kAnswering, [](Options& o, Values) { o.pair_lines = true; }},
    {"--question", 1, kTexts, kNone, kAnswering, [](Options& o, Values v) { o.question = v[0]; }},
    {"--context", 1, kTexts, kNone, kAnswering, [](Options& o, Values v) { o.context = v[0]; }},
    {"--context-file", 1, kTexts, kNone, kAnswering, [](Options& o, Values v) { o.context_file = v[0]; }},
    {"--longest", 1, kTexts | kRows, kNone, kAnswering,
     [](Options& o, Values v) { o.wanted.answers.longest = number("--longest", v[0], 1, 1000000); }},
    {"--window", 1, kTexts | kRows, kNone, kAnswering,
     [](Options& o, Values v) { o.wanted.answers.window = number("--window", v[0], 8, kModel.max_tokens); }},
    {"--stride", 1, kTexts | kRows, kNone, kAnswering,
     [](Options& o, Values v) { o.wanted.answers.stride = number("--stride", v[0], 1, kModel.max_tokens); }},
    {"--no-answer", 0, kTexts | kRows, kNone, kAnswering,
     [](Options& o, Values) { o.wanted.answers.no_answer = true; }},
    {"--by-tokens", 0, kTexts | kRows, kNone, kAnswering,
     [](Options& o, Values) { o.wanted.answers.by_tokens = true; }},
    {"--logits", 0, kTexts, kNone, kAnswering, [](Options& o, Values) { o.logits = true; }},
    {"--confusion", 0, kRows, kNone, bit(Task::single_label), [](Options& o, Values) { o.confusion = true; }},
    {"--json", 0, kLines | kRows, kNone, bit(Task::single_label), [](Options& o, Values) { o.json = true; }},
    {"--json", 0, kLines, kNone, kAnyTask & ~bit(Task::single_label), [](Options& o, Values) { o.json = true; }},
    {"--tokens", 0, kTexts, kNone, kAnyTask, [](Options& o, Values) { o.tokens = true; }},
    {"--top", 1, kTexts, kNone, kLabels | kMasks,
     [](Options& o, Values v) { o.top = number("--top", v[0], 1, 1000000); }},
    {"--top", 1, kTexts, kNone, kAnswering,
     [](Options& o, Values v) { o.wanted.answers.top = number("--top", v[0], 1, 1000); }},
    {"--aggregation", 1, kTexts, kNone, kTags,
     [](Options& o, Values v) { o.wanted.aggregation = read_aggregation(v[0]); }},
    {"--probabilities", 0, kTexts, kNone, kTags, [](Options& o, Values) { o.probabilities = true; }},
    {"--plain-text", 0, kAnswers, kNone, kAnyTask, [](Options& o, Values) { o.plain_text = true; }},
    {"--similarity", 2, kChoosesMode, Mode::similarity, kEmbeddings,
     [](Options& o, Values v) {
         o.compared.push_back({v[0], v[1]});
     }},
    {"--evaluate", 1, kChoosesMode, Mode::evaluate, kAnyTask, [](Options& o, Values v) { o.table = v[0]; }},
    {"--label-column", 1, kRows, kNone, kTables, [](Options& o, Values v) { o.label_column = v[0]; }},
    {"--text-columns", 1, kRows, kNone, kTables, [](Options& o, Values v) { o.text_columns = v[0]; }},
    {"--labels", 1, kRows, kNone, kLabels, [](Options& o, Values v) { o.label_values = v[0]; }},
    {"--header", 0, kRows, kNone, kTables, [](Options& o, Values) { o.header = true; }},
    {"--no-header", 0, kRows, kNone, kTables, [](Options& o, Values) { o.header = false; }},
    {"--limit", 1, kRows, kNone, kAnyTask,
     [](Options& o, Values v) { o.limit = number("--limit", v[0], 1, UINT32_MAX); }},
    {"--latency", 0, kChoosesMode, Mode::latency, kAnyTask, [](Options&, Values) {}},
    {"--memory", 0, kChoosesMode, Mode::memory, kAnyTask, [](Options&, Values) {}},
    {"--self-test", 0, kChoosesMode, Mode::self_test, kAnyTask, [](Options&, Values) {}},
    {"--version", 0, kChoosesMode, Mode::version, kAnyTask, [](Options&, Values) {}},
    {"--help", 0, kChoosesMode, Mode::help, kAnyTask, [](Options&, Values) {}},
    {"-h", 0, kChoosesMode, Mode::help, kAnyTask, [](Options&, Values) {}},
    {"--kernel", 1, kRuns | bit(Mode::version), kNone, kAnyTask, [](Options& o, Values v) { o.kernel = v[0]; }},
    {"--threads", 1, kRuns, kNone, kAnyTask,
     [](Options& o, Values v) { o.threads = v[0] == "auto" ? 0 : number("--threads", v[0], 0, 64); }},
    {"--device", 1, kOnDevice, kNone, kAnyTask, [](Options& o, Values v) { o.gpu = read_device(v[0]); }},
    {"--mode", 1, kOnDevice, kNone, kAnyTask,
     [](Options& o, Values v) {
         if (v[0] != "exact" && v[0] != "fast") {
             fail(kWrongUse, "--mode: expected exact or fast, got %s", quoted(v[0]).c_str());
         }
         o.device_mode = v[0];
     }},
};
constexpr std::size_t kOptionCount = sizeof kOptions / sizeof kOptions[0];

// Of several with this name the one that goes with the model, else the first.
const Option* find_option(std::string_view name) {
    const Option* found = nullptr;
    for (const Option& option : kOptions) {
        if (option.name == name && (found == nullptr || (option.tasks & bit(kModel.task)) != 0)) {
            found = &option;
        }
    }
    return found;
}

// Reads an option's values from `--name value` or `--name=value`; returns the index of the last argument used.
int read_values(const Option& option, std::optional<std::string_view> attached, int argc, const char* const* argv,
                int index, std::string_view (&values)[2]) {
    const std::string name(option.name);
    if (attached) {
        if (option.values != 1) {
            fail(kWrongUse, "%s takes %s", name.c_str(),
                 option.values == 0 ? "no value" : "its two values as separate arguments");
        }
        values[0] = *attached;
        return index;
    }
    for (int i = 0; i < option.values; ++i) {
        ++index;
        if (index >= argc || find_option(argv[index]) != nullptr) {
            fail(kWrongUse, "%s needs %s", name.c_str(), option.values == 1 ? "a value" : "two values");
        }
        values[i] = argv[index];
    }
    return index;
}

const char* what_the_model_does() {
    switch (kModel.task) {
        case Task::single_label:
        case Task::multi_label:
            return "classifies texts";
        case Task::regression:
            return "gives values";
        case Task::embedding:
            return "embeds texts";
        case Task::tagging:
            return "tags texts";
        case Task::fill_mask:
            return "fills masks";
        case Task::answering:
            return "answers questions";
    }
    return "";
}

// Refuses options that would silently do nothing.
void check_modes(const Options& options, const bool (&given)[kOptionCount], const Option* chooser) {
    for (std::size_t i = 0; i < kOptionCount; ++i) {
        const Option& option = kOptions[i];
        if (!given[i] || option.modes == kChoosesMode || (option.modes & bit(options.mode)) != 0) {
            continue;
        }
        if (options.mode == Mode::texts) {
            fail(kWrongUse, "%s only goes with --evaluate", std::string(option.name).c_str());
        }
        fail(kWrongUse, "%s does not go with %s", std::string(option.name).c_str(),
             chooser != nullptr ? std::string(chooser->name).c_str() : "--kernel list");
    }
    if (options.mode != Mode::texts && !options.texts.empty()) {
        fail(kWrongUse, "unexpected text %s: %s takes no texts", quoted(options.texts[0]).c_str(),
             chooser != nullptr ? std::string(chooser->name).c_str() : "--kernel list");
    }
}

[[noreturn]] void refuse(const char* one, const char* other) {
    fail(kWrongUse, "%s and %s cannot be used together", one, other);
}

// Refuses what would not reach a GPU.
void check_device(const Options& options, bool threads_given) {
    if (options.device_mode && !options.gpu) {
        fail(kWrongUse, "--mode only goes with --device cuda");
    }
    if (!options.gpu) {
        return;
    }
    if (options.kernel) {
        refuse("--kernel", "--device cuda");
    }
    if (threads_given) {
        refuse("--threads", "--device cuda");
    }
    if (options.tokens) {
        refuse("--tokens", "--device cuda");
    }
}

// A question and one context, and no other texts.
void check_question(const Options& options) {
    if (options.context && options.context_file) {
        refuse("--context", "--context-file");
    }
    if (options.question.has_value() != (options.context || options.context_file)) {
        fail(kWrongUse, "%s",
             options.question ? "--question needs --context or --context-file"
                              : "--context and --context-file only go with --question");
    }
    if (options.question && (options.file || options.pair_lines || !options.pairs.empty() || !options.texts.empty())) {
        fail(kWrongUse, "--question takes no other texts");
    }
}

void check_conflicts(const Options& options, const bool top_given) {
    if (options.json && options.tokens) {
        refuse("--json", "--tokens");
    }
    if (options.mode == Mode::evaluate && options.json && !options.confusion) {
        fail(kWrongUse, "--json does not go with --evaluate, but for --confusion");
    }
    if (options.probabilities && !options.json) {
        fail(kWrongUse, "--probabilities only goes with --json");
    }
    if (top_given && kModel.task == Task::fill_mask && options.top > kModel.width) {
        fail(kWrongUse, "--top: model %s has %u candidates of a mask", quoted(kModel.name).c_str(),
             static_cast<unsigned>(kModel.width));
    }
    if (options.logits && !options.json) {
        fail(kWrongUse, "--logits only goes with --json");
    }
    if (top_given && options.tokens) {
        refuse("--top", "--tokens");
    }
    if (top_given && options.json && kModel.task != Task::answering && kModel.task != Task::fill_mask) {
        refuse("--top", "--json");
    }
    check_question(options);
    if (options.pair_lines && !options.pairs.empty()) {
        refuse("--pair", "--pairs");
    }
    if (options.file && !options.texts.empty()) {
        refuse("--file", "texts as arguments");
    }
    if (options.file && !options.pairs.empty()) {
        refuse("--file", "--pair");
    }
    if (!options.pairs.empty() && !options.texts.empty()) {
        fail(kWrongUse, "unexpected text %s: --pair takes exactly two", quoted(options.texts[0]).c_str());
    }
    if (options.pair_lines && !options.texts.empty()) {
        fail(kWrongUse, "--pairs reads lines from --file or standard input; for pairs as arguments use --pair A B");
    }
    if (options.pair_lines && options.mode == Mode::evaluate && kModel.task == Task::embedding) {
        fail(kWrongUse, "--pairs does not go with --evaluate here: the two texts of a row are embedded one by one");
    }
    if ((options.pair_lines || !options.pairs.empty()) && !kModel.pairs) {
        fail(kWrongUse, "%s: model %s takes single texts only (its type_vocab_size is 1)",
             options.pair_lines ? "--pairs" : "--pair", quoted(kModel.name).c_str());
    }
}

}  // namespace

Options parse_arguments(int argc, const char* const* argv) {
    Options options;
    bool given[kOptionCount] = {};
    const Option* chooser = nullptr;  // of the mode
    bool only_texts = false;          // after `--`
    for (int i = 1; i < argc; ++i) {
        const std::string_view argument = argv[i];
        if (only_texts || argument.size() < 2 || argument[0] != '-') {
            options.texts.push_back(argument);
            continue;
        }
        if (argument == "--") {
            only_texts = true;
            continue;
        }
        const std::size_t equals = argument.find('=');
        const bool attached = argument.substr(0, 2) == "--" && equals != std::string_view::npos;
        const Option* option = find_option(attached ? argument.substr(0, equals) : argument);
        if (option == nullptr) {
            fail(kWrongUse, "unknown option %s (see --help; texts that begin with '-' go after '--')",
                 quoted(argument).c_str());
        }
        const std::string name(option->name);
        if ((option->tasks & bit(kModel.task)) == 0) {
            fail(kWrongUse, "%s does not go with model %s, which %s", name.c_str(), quoted(kModel.name).c_str(),
                 what_the_model_does());
        }
        std::string_view values[2];
        i = read_values(*option, attached ? std::optional(argument.substr(equals + 1)) : std::nullopt, argc, argv, i,
                        values);
        bool& seen = given[option - kOptions];
        if (seen && option->values == 1) {
            fail(kWrongUse, "%s is given twice", name.c_str());
        }
        seen = true;
        if (option->modes == kChoosesMode) {
            if (option->mode == Mode::help) {
                options.mode = Mode::help;
                return options;
            }
            if (chooser != nullptr && chooser != option) {
                fail(kWrongUse, "%s and %s cannot be used together", std::string(chooser->name).c_str(), name.c_str());
            }
            chooser = option;
            options.mode = option->mode;
        }
        const std::optional<bool> header_before = options.header;
        option->apply(options, values);
        if (header_before && options.header != header_before) {
            fail(kWrongUse, "--header and --no-header cannot be used together");
        }
    }
    if (options.kernel == "list") {
        if (chooser != nullptr) {
            fail(kWrongUse, "%s and --kernel list cannot be used together", std::string(chooser->name).c_str());
        }
        options.mode = Mode::kernel_list;
        given[find_option("--kernel") - kOptions] = false;
    }
    check_modes(options, given, chooser);
    check_conflicts(options, given[find_option("--top") - kOptions]);
    check_device(options, given[find_option("--threads") - kOptions]);
    return options;
}

}  // namespace etch::cli
