// SPDX-License-Identifier: Apache-2.0
#include "prompts.hpp"

#include "failure.hpp"
#include "model.hpp"
#include "text/format.hpp"
#include "text/utf8.hpp"

namespace etch::cli {
namespace {

[[noreturn]] void refuse_name(std::string_view name) {
    const std::string known = listed_prompts();
    fail(kWrongUse, "--prompt: the model has no prompt %s%s", quoted(name).c_str(),
         known.empty() ? ", it has none" : (": it has" + known).c_str());
}

// One name, which may have a comma itself, or two.
void name_prompts(Options& options, std::string_view names) {
    const Prompt* first = kModel.prompts.find(names);
    const Prompt* second = first;
    if (const std::size_t comma = names.find(','); first == nullptr && comma != std::string_view::npos) {
        first = kModel.prompts.find(names.substr(0, comma));
        second = kModel.prompts.find(names.substr(comma + 1));
    }
    if (first == nullptr || second == nullptr) {
        refuse_name(names);
    }
    options.text_prompt = first->text;
    if (second != first) {
        options.second_prompt = second->text;
    }
}

const Option kOptions[] = {
    {"--prompt", 1, kTexts | kRows | bit(Mode::similarity), kNone, [](Options& o, Values v) { name_prompts(o, v[0]); }},
    {"--as-written", 0, kTexts | kRows | bit(Mode::similarity), kNone,
     [](Options& o, Values) { o.wanted.as_written = true; }},
};

}  // namespace

const OptionGroup kPromptOptions(kOptions);

std::string_view prompt_of(const Options& options) {
    const Prompt* const usual = options.wanted.as_written ? nullptr : kModel.prompts.usual;
    return options.text_prompt.value_or(usual == nullptr ? std::string_view() : usual->text);
}

std::string_view second_prompt_of(const Options& options) {
    return options.second_prompt.value_or(prompt_of(options));
}

void check_prompts(const Options& options) {
    if (options.text_prompt && options.wanted.as_written) {
        refuse_together("--prompt", "--as-written");
    }
    if (options.text_prompt && (options.pair_lines || !options.pairs.empty())) {
        refuse_together("--prompt", options.pair_lines ? "--pairs" : "--pair");
    }
    if (options.second_prompt && options.mode == Mode::texts) {
        fail(kWrongUse, "--prompt: one for each of two texts only goes with --similarity and --evaluate");
    }
}

std::string behind(std::string_view prompt, std::string_view text) {
    return std::string(prompt).append(text);
}

std::string listed_prompts() {
    constexpr std::uint32_t kShown = 20;
    std::string out;
    for (std::uint32_t i = 0; i < kModel.prompts.count && i < kShown; ++i) {
        out += i == 0 ? " " : ", ";
        append_printable(out, kModel.prompts.prompts[i].name.substr(0, 200));
    }
    return kModel.prompts.count > kShown ? out + format(", … (%u)", static_cast<unsigned>(kModel.prompts.count)) : out;
}

}  // namespace etch::cli
