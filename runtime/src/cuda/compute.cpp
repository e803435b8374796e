// SPDX-License-Identifier: Apache-2.0
// One pass: texts are tokenized on the CPU straight into the page-locked input, copied, computed and copied back.
#include <cstring>

#include "on_device.hpp"
#include "session_state.hpp"
#include "steps.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {
namespace {

RowInfo* staged_rows(const SessionState& state) noexcept {
    return reinterpret_cast<RowInfo*>(state.input + sizeof(Counts));
}

void clear(SessionState& state) noexcept {
    state.row_count = 0;
    state.text_count = 0;
    state.place_count = 0;
}

// One more text, whose tokens are in the state's ids and segments.
void add(SessionState& state, const Tokenized& tokens) noexcept {
    RowInfo* const rows = staged_rows(state) + state.row_count;
    for (std::uint32_t i = 0; i < tokens.count; ++i)
        rows[i] = {state.ids[i], state.segments[i], i, state.text_count};
    state.texts[state.text_count] = {state.row_count, tokens.count, state.place_count, 0};
    state.truncated[state.text_count] = tokens.truncated;
    state.row_count += tokens.count;
    state.place_count += static_cast<std::uint32_t>(round_up(tokens.count, kTile));
    ++state.text_count;
}

TokenSink sink_of(const SessionState& state, std::uint32_t capacity) noexcept {
    return {state.ids, state.segments, nullptr, capacity};
}

std::uint32_t longest_text(const SessionState& state) noexcept {
    std::uint32_t longest = 0;
    for (std::uint32_t text = 0; text < state.text_count; ++text) {
        if (state.texts[text].count > longest) longest = state.texts[text].count;
    }
    return longest;
}

Status launch_pass(SessionState& state) noexcept {
    const std::uint32_t rows = bucket(state.row_count);
    const Counts counts{state.row_count, state.text_count, {}};
    std::memcpy(state.input, &counts, sizeof counts);
    std::memcpy(state.input + input_bytes(rows, 0), state.texts, state.text_count * sizeof(TextInfo));
    if (state.text_count == 1) {
        return status_of(cudaGraphLaunch(state.graphs[bucket_count(rows) - 1], state.stream));
    }
    return enqueue(state, {rows, state.text_count, longest_text(state)}, state.text_count);
}

Status check(const DeviceSession& session) noexcept {
    return session.state == nullptr ? Status::not_open : session.failure;
}

// Computes what is staged.
Status run(DeviceSession& session) noexcept {
    SessionState& state = *session.state;
    const OnDevice on_device(state.weights->device);
    Steps steps;
    steps.then([&] { return on_device.status(); }).then([&] { return launch_pass(state); }).then([&] {
        return cudaStreamSynchronize(state.stream);
    });
    session.failure = steps.status();
    return steps.status();
}

// Runs the one text that `tokenize` put into the state's ids and segments.
template <class Tokenize>
Status compute_one(DeviceSession& session, Tokenize tokenize) noexcept {
    Status status = check(session);
    if (status != Status::ok) return status;
    SessionState& state = *session.state;
    Tokenized tokens;
    status = tokenize(state, sink_of(state, state.model->limits.max_tokens), tokens);
    if (status != Status::ok) return status;
    if (tokens.count == 0) return Status::no_tokens;
    clear(state);
    add(state, tokens);
    return run(session);
}

// As kPairs of the model says for CPUs: one of one segment takes pairs, too, where its template puts both texts in it.
bool has_segments_of_pairs(const ModelPlan& model) noexcept {
    const Template& parts = model.tokenizer.parts;
    for (std::uint32_t i = 0; i < parts.pair_count; ++i) {
        if (parts.pair[i].segment >= model.limits.segments) return false;
    }
    return true;
}

}  // namespace

Status enqueue(SessionState& state, const Pass& pass, std::uint32_t texts) noexcept {
    const std::size_t outputs = std::size_t{texts} * state.model->outputs * sizeof(float);
    Runner runner = state.runner(false);
    Steps steps;
    return steps
        .then([&] {
            return cudaMemcpyAsync(state.parts.input, state.input, input_bytes(pass.rows, texts),
                                   cudaMemcpyHostToDevice, state.stream);
        })
        .then([&] {
            state.forward(runner, pass);
            return runner.status();
        })
        .then([&] {
            return cudaMemcpyAsync(state.outputs, state.parts.outputs, outputs, cudaMemcpyDeviceToHost, state.stream);
        })
        .status();
}

Status compute(DeviceSession& session, std::string_view text) noexcept {
    return compute_one(session, [&](SessionState& state, const TokenSink& sink, Tokenized& tokens) {
        return tokenize(state.model->tokenizer, text, session.special_tokens, state.tokenizer, sink, tokens);
    });
}

Status compute_pair(DeviceSession& session, std::string_view first, std::string_view second) noexcept {
    return compute_one(session, [&](SessionState& state, const TokenSink& sink, Tokenized& tokens) {
        if (!has_segments_of_pairs(*state.model)) return Status::pair_not_supported;
        return tokenize_pair(state.model->tokenizer, first, second, session.special_tokens, state.tokenizer, sink,
                             tokens);
    });
}

Status compute_tokens(DeviceSession& session, const std::int32_t* ids, const std::uint8_t* segments,
                      std::uint32_t count) noexcept {
    return compute_one(session, [&](SessionState& state, const TokenSink& sink, Tokenized& tokens) {
        const Status status = check_tokens(ids, segments, count, state.model->limits);
        if (status != Status::ok) return status;
        for (std::uint32_t i = 0; i < count; ++i) {
            sink.ids[i] = ids[i];
            sink.segments[i] = segments != nullptr ? segments[i] : std::uint8_t{0};
        }
        tokens = {count, false};
        return Status::ok;
    });
}

Status compute_batch(DeviceSession& session, const std::string_view* texts, std::size_t count,
                     std::uint32_t& computed) noexcept {
    computed = 0;
    Status status = check(session);
    if (status != Status::ok) return status;
    SessionState& state = *session.state;
    const std::uint32_t longest = state.model->limits.max_tokens;
    clear(state);
    while (state.text_count < count && state.text_count < state.capacity.texts) {
        const std::uint32_t left = state.capacity.rows - state.row_count;
        Tokenized tokens;
        status = tokenize(state.model->tokenizer, texts[state.text_count], session.special_tokens, state.tokenizer,
                          sink_of(state, left < longest ? left : longest), tokens);
        if (status != Status::ok) return status;
        if (tokens.truncated && left < longest) break;  // the next pass has room for it
        if (tokens.count == 0) return Status::no_tokens;
        add(state, tokens);
    }
    status = run(session);
    if (status == Status::ok) computed = state.text_count;
    return status;
}

TextOutput output(const DeviceSession& session, std::uint32_t text) noexcept {
    const SessionState& state = *session.state;
    const std::uint32_t width = state.model->outputs;
    return {{state.outputs + std::size_t{text} * width, width}, state.texts[text].count, state.truncated[text]};
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
