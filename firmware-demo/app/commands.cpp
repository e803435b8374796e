// SPDX-License-Identifier: Apache-2.0
// What a line that begins with '!' asks for.
#include <iterator>

#include "board.hpp"
#include "print.hpp"
#include "session.hpp"
#include "watchdog.hpp"

namespace firmware {
namespace {

// Whether it begins so; what comes behind is left. (What substr() throws would have to be linked.)
bool takes(std::string_view& command, std::string_view beginning) {
    if (command.substr(0, beginning.size()) != beginning) return false;
    command.remove_prefix(beginning.size());
    return true;
}

// Whether it is "!logits on", or what is shown in their place.
bool is_shown(std::string_view command, std::string_view how) {
    return takes(command, "!") && takes(command, kShown) && command == how;
}

void choose_shown(Session& session, bool shown) {
    session.shows_bits = shown;
    print_line(kShown, shown ? " on" : " off");
}

void tell_memory() {
    const board::Memory memory = board::memory();
    print_line("memory in bytes: arena=", std::uint64_t{model::kArenaBytes},
               " tables=", std::uint64_t{model::kTableBytes}, " static=", std::uint64_t{memory.statics},
               " stack=", std::uint64_t{memory.stack}, " stack_painted=", std::uint64_t{memory.stack_used},
               " stack_budget=", std::uint64_t{model::kStackBudget});
}

void test_model(Session& session) {
    if constexpr (kWatched) return print_line("error self-test: one call, longer than the watchdog waits");
    const etch::Status status = model::self_test(session.workspace);
    if (status == etch::Status::ok) {
        print_line("self test passed");
    } else {
        print_line("error self-test: ", etch::describe(status));
    }
}

// 64 ns for each, as ticks() says: ticks / kClockHz seconds.
std::uint64_t instructions(std::uint64_t ticks) {
    return ticks * 15'625'000 / board::kClockHz;
}

void tell_ticks(const Session& session) {
    print_line("ticks of the last text: ", session.last_ticks, " at ", std::uint64_t{board::kClockHz},
               " Hz; emulated with -icount shift=6: ", instructions(session.last_ticks), " instructions (not cycles)");
}

void tell_steps(const Session& session) {
    print_line("steps of the last text: ", std::uint64_t{session.steps.count}, ", the longest ", session.steps.longest,
               " ticks, emulated ", instructions(session.steps.longest),
               " instructions (not cycles); bytes in between: ", std::uint64_t{session.steps.received});
}

void choose_budget(Session& session, std::string_view digits) {
    std::uint64_t budget = 0;
    if (digits.empty() || digits.size() > 18) return print_line("error budget: not a number");
    for (const char digit : digits) {
        if (digit < '0' || digit > '9') return print_line("error budget: not a number");
        budget = budget * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    session.budget = budget;
    print_line("budget ", budget);
}

void choose_aggregation(Session& session, std::string_view name) {
    for (std::uint8_t i = 0; i < std::size(etch::kAggregationNames); ++i) {
        if (etch::kAggregationNames[i] != name) continue;
        session.aggregation = static_cast<etch::Aggregation>(i);
        return print_line("aggregation ", name);
    }
    print_line("error aggregation: none, simple, first, average or max");
}

void choose_kernel(Session& session, std::string_view name) {
    const etch::Status status = model::select_kernel(session.workspace, name);
    if (status == etch::Status::ok) {
        print_line("kernels ", name);
    } else {
        print_line("error kernel: ", etch::describe(status));
    }
}

void list_kernels() {
    print("kernels");
    for (std::size_t i = 0; !model::usable_kernel(i).empty(); ++i) {
        print(" ");
        print(model::usable_kernel(i));
    }
    print("\n");
}

}  // namespace

void obey(Session& session, std::string_view command) {
    if (is_shown(command, " on")) return choose_shown(session, true);
    if (is_shown(command, " off")) return choose_shown(session, false);
    if (command == "!mem") return tell_memory();
    if (command == "!self") return test_model(session);
    if (command == "!ticks") return tell_ticks(session);
    if constexpr (kInSteps) {
        if (command == "!steps") return tell_steps(session);
        if (takes(command, "!budget ")) return choose_budget(session, command);
    }
    if constexpr (kAggregates) {
        if (takes(command, "!aggregation ")) return choose_aggregation(session, command);
    }
    if (command == "!kernels") return list_kernels();
    if (takes(command, "!kernel ")) return choose_kernel(session, command);
    if (command == "!help") {
        return print_line("!", kShown, " on|off, !mem, !self, !ticks, ", kInSteps ? "!steps, !budget NUMBER, " : "",
                          kAggregates ? "!aggregation NAME, " : "", "!kernels, !kernel NAME, !exit");
    }
    if (command == "!exit") board::finish(0);
    print_line("error unknown-command: ", command);
}

}  // namespace firmware
