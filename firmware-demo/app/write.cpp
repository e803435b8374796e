// SPDX-License-Identifier: Apache-2.0
// The lines that use a generative model: what a step has written is sent before the next one.
#include "answer.hpp"
#include "print.hpp"
#include "timing.hpp"

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
    count_begin(session, status);
    sent = 0;
    if (!session.computing) print_line("error not-written: ", etch::describe(status));
}

void go_on(Session& session) {
    model::Result result;
    const std::uint64_t before = board::ticks();
    const etch::Status status = model::step(session.workspace, session.budget, written, sizeof written, result);
    count_step(session, before, status);
    if (session.computing || status == etch::Status::ok) send_up_to(result.bytes);
    if (session.computing) return;
    if (status == etch::Status::ok) {
        end_line(session, result);
    } else {
        print_line("\terror not-written: ", etch::describe(status));
    }
}

}  // namespace firmware
