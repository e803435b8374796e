// SPDX-License-Identifier: Apache-2.0
// The lines that use a model that writes: what a step has written is sent before the next one.
#include "answer.hpp"
#include "board.hpp"
#include "print.hpp"

namespace firmware {
namespace {

char written[1024];
std::size_t sent;  // bytes of it

void send_up_to(std::size_t bytes) {
    print(Escaped{{written + sent, bytes - sent}});
    sent = bytes;
}

std::string_view why(etch::Ended ended) {
    switch (ended) {
        case etch::Ended::end:
            return "end";
        case etch::Ended::length:
            return "length";
        case etch::Ended::capacity:
            break;
    }
    return "capacity";
}

void end_line(const Session& session, const model::Result& result) {
    print("\t");
    print(std::uint64_t{result.count});
    print(" written\t");
    print(std::uint64_t{result.tokens});
    print(" tokens\t");
    print(result.truncated ? "truncated" : "whole");
    print("\t");
    print(why(result.ended));
    if (session.shows_bits) {
        print("\t");
        print(Bits{result.score});
    }
    print("\n");
}

}  // namespace

void answer(Session& session, std::string_view text) {
    board::restart_clock();
    const etch::Status status = model::begin(session.workspace, text);
    session.last_ticks = board::ticks();
    session.steps = {};
    sent = 0;
    session.computing = status == etch::Status::ok;
    if (!session.computing) print_line("error not-written: ", etch::describe(status));
}

void go_on(Session& session) {
    model::Result result;
    const std::uint64_t before = board::ticks();
    const etch::Status status = model::step(session.workspace, session.budget, written, sizeof written, result);
    const std::uint64_t spent = board::ticks() - before;
    session.last_ticks += spent;
    ++session.steps.count;
    if (spent > session.steps.longest) session.steps.longest = spent;
    session.computing = status == etch::Status::in_progress;
    if (session.computing || status == etch::Status::ok) send_up_to(result.bytes);
    if (session.computing) return;
    if (status == etch::Status::ok) {
        end_line(session, result);
    } else {
        print_line("\terror not-written: ", etch::describe(status));
    }
}

}  // namespace firmware
