// SPDX-License-Identifier: Apache-2.0
#include "chat.hpp"

#include "failure.hpp"
#include "model.hpp"

namespace etch::cli {
namespace {

const Option kOptions[] = {
    {"--chat", 0, kTexts, kNone, [](Options& o, Values) { o.chat = true; }},
    {"--system", 1, kTexts, kNone, [](Options& o, Values v) { o.system = v[0]; }},
    {"--turns", 0, kTexts, kNone, [](Options& o, Values) { o.chat = o.turns = true; }},
};

}  // namespace

const OptionGroup kChatOptions(kOptions);

void check_chat(const Options& options) {
    if (!options.chat) {
        if (options.system) fail(kWrongUse, "--system only goes with --chat or --turns");
        return;
    }
    if (kModel.chat == nullptr) {
        fail(kWrongUse,
             "--chat: the model has no chat: its checkpoint has no chat template, or one that is no fixed "
             "text around messages; `etch inspect` of the checkpoint says which");
    }
    if (options.plain_text) refuse_together("--chat", "--plain-text");
    if (options.system && !kModel.chat->takes_system) {
        fail(kWrongUse, "--system: conversations with the model have no system's message");
    }
    if (options.turns && !options.texts.empty()) {
        fail(kWrongUse, "--turns: lines of a file or of standard input are turns, no texts of the command line");
    }
    if (options.turns && options.tokens) refuse_together("--turns", "--tokens");
}

std::string chat_of(const Options& options, const std::vector<std::string_view>& messages) {
    const std::string_view* const system = options.system ? &*options.system : nullptr;
    std::string text(chat_text(*kModel.chat, system, messages.data(), messages.size(), nullptr, 0), '\0');
    chat_text(*kModel.chat, system, messages.data(), messages.size(), text.data(), text.size());
    return text;
}

}  // namespace etch::cli
