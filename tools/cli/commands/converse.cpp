// SPDX-License-Identifier: Apache-2.0
// A conversation: each line is the next message of the user.
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "../answers.hpp"
#include "../chat.hpp"
#include "../failure.hpp"
#include "../input.hpp"
#include "../model.hpp"
#include "../output.hpp"
#include "../task_face.hpp"
#include "../text/format.hpp"
#include "commands.hpp"

namespace etch::cli {
namespace {

// What has been said, the user first.
class Conversation {
  public:
    explicit Conversation(const Options& options) : options_(options) {}

    void begin_again() { messages_.clear(); }

    // The next answer; false where the conversation has become longer than a text of the model: then the message counts
    // as not said.
    bool say(std::string_view message, const std::string& where) {
        messages_.emplace_back(message);
        const std::string text = chat_of(options_, {messages_.begin(), messages_.end()});
        Tokens tokens = {};
        Answer answer = {};
        Status status = encode({text, {}, false}, tokens);
        if (status == Status::ok && tokens.truncated) {
            messages_.pop_back();
            return false;
        }
        status = status == Status::ok ? answer_text({text, {}, false}, answer) : status;
        if (status != Status::ok) fail(kRunFailure, "%s: %s", where.c_str(), describe(status));
        const Text said = {messages_.back(), {}, false};
        write_output(options_.json ? answer_as_json(options_, said, answer)
                                   : kModel.face.as_text(options_, said, answer));
        messages_.push_back(answer.written[0].text);
        return true;
    }

  private:
    const Options& options_;
    std::vector<std::string> messages_;
};

}  // namespace

void converse(const Options& options) {
    InputFile file(options.file.value_or("-"));
    const std::string program(kModel.program);
    if (file.is_terminal()) {
        std::fprintf(stderr, "%s: a message a line; an empty line begins another conversation; Ctrl-D ends\n",
                     program.c_str());
    }
    LineReader lines(file);
    Conversation conversation(options);
    for (std::string_view line; lines.next(line);) {
        if (line.empty()) {
            conversation.begin_again();
            continue;
        }
        const std::string where = file.name() + format(": line %zu", lines.line_number());
        if (conversation.say(line, where)) continue;
        const std::string why = format("the conversation has more than %u tokens: an empty line begins another one",
                                       static_cast<unsigned>(kModel.max_tokens));
        if (!file.is_terminal()) fail(kRunFailure, "%s: %s", where.c_str(), why.c_str());
        std::fprintf(stderr, "%s: %s\n", program.c_str(), why.c_str());
    }
}

}  // namespace etch::cli
