// SPDX-License-Identifier: Apache-2.0
// A generated model as a module of WebAssembly. It imports nothing: texts come and answers go through its memory, the
// answers as the lines of JSON that the model's program prints. One thread; an instance is a session.
//
//     etch_input(index, bytes)   room for text `index`, 0 or 1, in UTF-8; valid until the next etch_input of that index
//     etch_answer(pair)          the answer to text 0, or to both
//     etch_encode(pair)          its tokens
//     etch_describe()            what the model is
//     etch_self_test()           every table and the golden texts, as the program's --self-test
//     etch_select_kernel()       of the name in text 0
//
// Each but the first returns 0 and leaves JSON, or another number and leaves a message: etch_output_bytes() of it at
// etch_output(), valid until the next call.
#include <cstdint>
#include <string>
#include <string_view>

#include "answers.hpp"
#include "model.hpp"
#include "task_face.hpp"
#include "text/json.hpp"

#if !defined(ETCH_MODEL) || !defined(ETCH_MODEL_HEADER) || !defined(ETCH_TASK_HEADER)
// The name in the namespace etch, the header's file name, tasks/classify.hpp or another of that folder.
#error "ETCH_MODEL, ETCH_MODEL_HEADER and ETCH_TASK_HEADER must be defined"
#endif

#include ETCH_MODEL_HEADER

namespace etch::cli {
namespace generated = etch::ETCH_MODEL;
}

#include ETCH_TASK_HEADER

#include "generated_model.hpp"

#define ETCH_EXPORT(type, name) extern "C" __attribute__((export_name(#name))) type name

namespace etch::cli {

namespace {

// Of a program's only this is asked here.
constexpr TaskFace made_face() {
    TaskFace face = {};
    face.append_fields = task::kAppendFields;
    return face;
}
constexpr TaskFace kOwnFace = made_face();

}  // namespace

const Model kModel = generated_model(generated::kModelName, kOwnFace, nullptr);

std::string_view label(std::uint32_t index) {
    return task::name(index);
}

std::string_view piece(std::int32_t id) {
    static std::string text;
    text.resize(generated::piece(id, nullptr, 0));
    generated::piece(id, text.data(), text.size());
    return text;
}

namespace {

generated::Workspace workspace;
generated::Result result;
generated::Encoding encoding;
std::string inputs[2];
std::string output;

// One of them may be empty.
bool has_labels() {
    std::uint32_t i = 0;
    while (i < kModel.width && label(i).empty()) {
        ++i;
    }
    return i < kModel.width;
}

Text text_of(std::uint32_t pair) {
    return {inputs[0], inputs[1], pair != 0};
}

// What a call returns; its JSON is there already.
std::uint32_t finish(Status status) {
    if (status != Status::ok) {
        output = describe(status);
    }
    return static_cast<std::uint32_t>(status);
}

void append_field(std::string_view name, std::string_view value) {
    output += output.empty() ? "{" : ", ";
    append_json(output, name);
    output += ": ";
    append_json(output, value);
}

void append_field(std::string_view name, std::size_t value) {
    output += ", ";
    append_json(output, name);
    output += ": ";
    append_json(output, static_cast<std::int64_t>(value));
}

}  // namespace

ETCH_EXPORT(char*, etch_input)(std::uint32_t index, std::size_t bytes) {
    inputs[index & 1].resize(bytes);
    return inputs[index & 1].data();
}

ETCH_EXPORT(const char*, etch_output)() {
    return output.data();
}

ETCH_EXPORT(std::size_t, etch_output_bytes)() {
    return output.size();
}

ETCH_EXPORT(std::uint32_t, etch_answer)(std::uint32_t pair) {
    const Options options;
    const Text text = text_of(pair);
    task::make_room(&result, 1, options.wanted);
    const Status status = task::answer(workspace, text, result);
    if (status == Status::ok) {
        output = answer_as_json(options, text, task::view(result));
    }
    return finish(status);
}

ETCH_EXPORT(std::uint32_t, etch_encode)(std::uint32_t pair) {
    const Text text = text_of(pair);
    const Status status = text.pair ? generated::encode_pair(workspace, text.first, text.second, encoding)
                                    : generated::encode(workspace, text.first, encoding);
    if (status == Status::ok) {
        output =
            tokens_as_json({encoding.ids, encoding.offsets, encoding.count, encoding.truncated, encoding.cut_word});
    }
    return finish(status);
}

ETCH_EXPORT(std::uint32_t, etch_describe)() {
    output.clear();
    append_field("name", kModel.name);
    append_field("recipe", kModel.recipe);
    append_field("checkpoint", kModel.checkpoint);
    append_field("kernel", generated::kernel(workspace));
    append_field("max_tokens", kModel.max_tokens);
    append_field("table_bytes", kModel.table_bytes);
    append_field("arena_bytes", kModel.arena_bytes);
    output += ", \"pairs\": ";
    append_json(output, kModel.pairs);
    output += ", \"labels\": ";
    append_json_array(output, has_labels() ? kModel.width : 0, [](std::uint32_t i) { append_json(output, label(i)); });
    output += '}';
    return finish(Status::ok);
}

ETCH_EXPORT(std::uint32_t, etch_self_test)() {
    output = "true";
    return finish(generated::self_test(workspace));
}

ETCH_EXPORT(std::uint32_t, etch_select_kernel)() {
    output = "true";
    return finish(generated::select_kernel(workspace, inputs[0]));
}

}  // namespace etch::cli
