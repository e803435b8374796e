// SPDX-License-Identifier: Apache-2.0
#include "arguments.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "failure.hpp"
#include "model.hpp"
#include "options.hpp"
#include "task_face.hpp"

namespace etch::cli {
namespace {

constexpr unsigned kLines = kTexts | bit(Mode::similarity);
constexpr unsigned kAnswers = kLines | kRows;
constexpr unsigned kRuns = kAnswers | bit(Mode::latency) | bit(Mode::memory) | bit(Mode::self_test);
constexpr unsigned kOnDevice = kAnswers | bit(Mode::latency) | bit(Mode::memory);

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

// Of every task.
const Option kOptions[] = {
    {"--file", 1, kTexts, kNone, [](Options& o, Values v) { o.file = v[0]; }},
    {"--json", 0, kAnswers, kNone, [](Options& o, Values) { o.json = true; }},
    {"--tokens", 0, kTexts, kNone, [](Options& o, Values) { o.tokens = true; }},
    {"--plain-text", 0, kAnswers, kNone, [](Options& o, Values) { o.plain_text = true; }},
    {"--evaluate", 1, kChoosesMode, Mode::evaluate, [](Options& o, Values v) { o.table = v[0]; }},
    {"--limit", 1, kRows, kNone, [](Options& o, Values v) { o.limit = number("--limit", v[0], 1, UINT32_MAX); }},
    {"--latency", 0, kChoosesMode, Mode::latency, [](Options&, Values) {}},
    {"--memory", 0, kChoosesMode, Mode::memory, [](Options&, Values) {}},
    {"--self-test", 0, kChoosesMode, Mode::self_test, [](Options&, Values) {}},
    {"--version", 0, kChoosesMode, Mode::version, [](Options&, Values) {}},
    {"--help", 0, kChoosesMode, Mode::help, [](Options&, Values) {}},
    {"-h", 0, kChoosesMode, Mode::help, [](Options&, Values) {}},
    {"--kernel", 1, kRuns | bit(Mode::version), kNone, [](Options& o, Values v) { o.kernel = v[0]; }},
    {"--threads", 1, kRuns, kNone,
     [](Options& o, Values v) { o.threads = v[0] == "auto" ? 0 : number("--threads", v[0], 0, 64); }},
    {"--huge-pages", 0, kRuns, kNone, [](Options& o, Values) { o.huge_pages = true; }},
    {"--device", 1, kOnDevice, kNone, [](Options& o, Values v) { o.gpu = read_device(v[0]); }},
    {"--mode", 1, kOnDevice, kNone,
     [](Options& o, Values v) {
         if (v[0] != "exact" && v[0] != "fast") {
             fail(kWrongUse, "--mode: expected exact or fast, got %s", quoted(v[0]).c_str());
         }
         o.device_mode = v[0];
     }},
};

// One that goes with the model; null where there is none. A task may have one of every task in its own way.
const Option* find_option(std::string_view name) {
    for (const OptionGroup* const group : kModel.face.options) {
        if (const Option* const found = group != nullptr ? group->find(name) : nullptr) {
            return found;
        }
    }
    const auto* const found = std::find_if(std::begin(kOptions), std::end(kOptions),
                                           [&](const Option& option) { return option.name == name; });
    return found == std::end(kOptions) ? nullptr : found;
}

bool is_option(std::string_view name) {
    return find_option(name) != nullptr || OptionGroup::find_in_any(name) != nullptr;
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
        if (index >= argc || is_option(argv[index])) {
            fail(kWrongUse, "%s needs %s", name.c_str(), option.values == 1 ? "a value" : "two values");
        }
        values[i] = argv[index];
    }
    return index;
}

// Refuses options that would silently do nothing.
void check_modes(const Options& options, const std::vector<const Option*>& given, const Option* chooser) {
    for (const Option* const option : given) {
        if (option->modes == kChoosesMode || (option->modes & bit(options.mode)) != 0) {
            continue;
        }
        if (options.mode == Mode::texts) {
            fail(kWrongUse, "%s only goes with --evaluate", std::string(option->name).c_str());
        }
        fail(kWrongUse, "%s does not go with %s", std::string(option->name).c_str(),
             chooser != nullptr ? std::string(chooser->name).c_str() : "--kernel list");
    }
    if (options.mode != Mode::texts && !options.texts.empty()) {
        fail(kWrongUse, "unexpected text %s: %s takes no texts", quoted(options.texts[0]).c_str(),
             chooser != nullptr ? std::string(chooser->name).c_str() : "--kernel list");
    }
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
        refuse_together("--kernel", "--device cuda");
    }
    if (threads_given) {
        refuse_together("--threads", "--device cuda");
    }
    if (options.huge_pages) {
        refuse_together("--huge-pages", "--device cuda");
    }
    if (options.tokens) {
        refuse_together("--tokens", "--device cuda");
    }
}

void check_conflicts(const Options& options) {
    if (options.json && options.tokens) {
        refuse_together("--json", "--tokens");
    }
    if (options.top && options.tokens) {
        refuse_together("--top", "--tokens");
    }
    kModel.face.check(options);
    if (options.pair_lines && !options.pairs.empty()) {
        refuse_together("--pair", "--pairs");
    }
    if (options.file && !options.texts.empty()) {
        refuse_together("--file", "texts as arguments");
    }
    if (options.file && !options.pairs.empty()) {
        refuse_together("--file", "--pair");
    }
    if (!options.pairs.empty() && !options.texts.empty()) {
        fail(kWrongUse, "unexpected text %s: --pair takes exactly two", quoted(options.texts[0]).c_str());
    }
    if (options.pair_lines && !options.texts.empty()) {
        fail(kWrongUse, "--pairs reads lines from --file or standard input; for pairs as arguments use --pair A B");
    }
    const bool of_head = options.wanted.head && options.mode == Mode::texts;  // which may take what the others do not
    if ((options.pair_lines || !options.pairs.empty()) && !kModel.pairs && !of_head) {
        fail(kWrongUse, "%s: model %s takes single texts only (its type_vocab_size is 1)",
             options.pair_lines ? "--pairs" : "--pair", quoted(kModel.name).c_str());
    }
}

}  // namespace

Options parse_arguments(int argc, const char* const* argv) {
    Options options;
    std::vector<const Option*> given;
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
        const std::string_view name_given = attached ? argument.substr(0, equals) : argument;
        const Option* option = find_option(name_given);
        if (option == nullptr && OptionGroup::find_in_any(name_given) != nullptr) {
            fail(kWrongUse, "%s does not go with model %s, which %s", std::string(name_given).c_str(),
                 quoted(kModel.name).c_str(), kModel.face.does);
        }
        if (option == nullptr) {
            fail(kWrongUse, "unknown option %s (see --help; texts that begin with '-' go after '--')",
                 quoted(argument).c_str());
        }
        const std::string name(option->name);
        std::string_view values[2];
        i = read_values(*option, attached ? std::optional(argument.substr(equals + 1)) : std::nullopt, argc, argv, i,
                        values);
        if (option->values == 1 && !option->repeats && std::count(given.begin(), given.end(), option) != 0) {
            fail(kWrongUse, "%s is given twice", name.c_str());
        }
        given.push_back(option);
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
        given.erase(std::find(given.begin(), given.end(), find_option("--kernel")));
    }
    check_modes(options, given, chooser);
    check_conflicts(options);
    check_device(options, std::count(given.begin(), given.end(), find_option("--threads")) != 0);
    return options;
}

}  // namespace etch::cli
