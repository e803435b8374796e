// SPDX-License-Identifier: Apache-2.0
// A generated model as functions of SQL: a loadable extension of SQLite (https://sqlite.org/loadext.html).
//
//     classify(text)         the name of the label; where labels hold by themselves, of all that do, `;` between
//     classify(text, label)  the label's probability
//     regress(text)          the value; of several, a JSON array
//     regress(text, name)    that value
//     embed(text)            a BLOB of float32, as the machine has them
//     cosine(a, b)           of two such BLOBs
//
// Of the first five a model has those of its task, each also as NAME_classify and so on, for several models in one
// connection. NULL gives NULL; whatever fails is an error of the statement. SQLite calls the functions of a connection
// one at a time: each connection that loads the extension has a workspace of its own.
#include <sqlite3ext.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

#include "model.hpp"
#include "task_face.hpp"

#if !defined(ETCH_MODEL) || !defined(ETCH_MODEL_HEADER) || !defined(ETCH_TASK_HEADER)
// The name in the namespace etch, the header's file name, tasks/classify.hpp or another of that folder.
#error "ETCH_MODEL, ETCH_MODEL_HEADER and ETCH_TASK_HEADER must be defined"
#endif

#include ETCH_MODEL_HEADER

namespace etch::cli {
namespace generated = etch::ETCH_MODEL;
}

#include ETCH_TASK_HEADER

SQLITE_EXTENSION_INIT1

namespace etch::cli {
namespace {

#define ETCH_QUOTED(name) #name
#define ETCH_EXPANDED(name) ETCH_QUOTED(name)
constexpr const char* kName = ETCH_EXPANDED(ETCH_MODEL);
constexpr Task kTask = generated::kTask;
constexpr const char* kVerb = kTask == Task::embedding ? "embed" : kTask == Task::regression ? "regress" : "classify";

// One connection's; each function that is registered holds it.
struct Session {
    generated::Workspace workspace;
    generated::Result result;
    int holders;
};

Session* open_session() {
    static_assert(sizeof(Session) % alignof(Session) == 0, "aligned_alloc asks for it");
    void* const memory = std::aligned_alloc(alignof(Session), sizeof(Session));
    return memory == nullptr ? nullptr : new (memory) Session();
}

void release(void* session) {
    if (--static_cast<Session*>(session)->holders == 0) {
        std::free(session);
    }
}

void fail(sqlite3_context* context, const char* problem) {
    char message[200];
    const int length = std::snprintf(message, sizeof message, "%s: %s", kVerb, problem);
    sqlite3_result_error(context, message, length);
}

std::string_view text_of(sqlite3_value* value) {
    const auto* const text = reinterpret_cast<const char*>(sqlite3_value_text(value));
    return {text, static_cast<std::size_t>(sqlite3_value_bytes(value))};
}

void give(sqlite3_context* context, std::string_view text) {
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

// What was put together. Of no text and of no memory the pointer is NULL alike.
void give(sqlite3_context* context, sqlite3_str* parts) {
    const int length = sqlite3_str_length(parts);
    const int code = sqlite3_str_errcode(parts);
    char* const text = sqlite3_str_finish(parts);
    if (code != SQLITE_OK) {
        sqlite3_result_error_code(context, code);
    } else if (text == nullptr) {
        give(context, "");
    } else {
        sqlite3_result_text(context, text, length, sqlite3_free);
    }
}

// What classify(text) says. Names of labels, `;` between, in memory of SQLite's.
void give_labels(sqlite3_context* context, const Answer& answer) {
    if (kTask == Task::single_label) {
        give(context, task::name(answer.label));
        return;
    }
    sqlite3_str* const names = sqlite3_str_new(sqlite3_context_db_handle(context));
    for (std::uint32_t i = 0; i < task::kWidth; ++i) {
        if (answer.values[i] >= 0.5F) {
            sqlite3_str_appendall(names, sqlite3_str_length(names) == 0 ? "" : ";");
            sqlite3_str_append(names, task::name(i).data(), static_cast<int>(task::name(i).size()));
        }
    }
    give(context, names);
}

void give_values(sqlite3_context* context, const Answer& answer) {
    if (task::kWidth == 1) {
        sqlite3_result_double(context, static_cast<double>(answer.values[0]));
        return;
    }
    sqlite3_str* const values = sqlite3_str_new(sqlite3_context_db_handle(context));
    for (std::uint32_t i = 0; i < task::kWidth; ++i) {
        sqlite3_str_appendf(values, "%s%!.9g", i == 0 ? "[" : ", ", static_cast<double>(answer.values[i]));
    }
    sqlite3_str_appendall(values, "]");
    give(context, values);
}

void give_answer(sqlite3_context* context, const Answer& answer) {
    if (kTask == Task::embedding) {
        sqlite3_result_blob64(context, answer.values, task::kWidth * sizeof(float), SQLITE_TRANSIENT);
    } else if (kTask == Task::regression) {
        give_values(context, answer);
    } else {
        give_labels(context, answer);
    }
}

// A label, or the name of a value, that is none of the model's: which these are, as far as a line holds them.
void refuse_name(sqlite3_context* context, std::string_view name) {
    constexpr std::uint32_t kMostNames = 8;
    sqlite3_str* const message = sqlite3_str_new(sqlite3_context_db_handle(context));
    sqlite3_str_appendf(message, "%s: the model has no %s '%!.40s'; it has ", kVerb,
                        kTask == Task::regression ? "value" : "label", name.data());
    for (std::uint32_t i = 0; i < task::kWidth && i < kMostNames; ++i) {
        sqlite3_str_appendall(message, i == 0 ? "" : ", ");
        sqlite3_str_append(message, task::name(i).data(), static_cast<int>(task::name(i).size()));
    }
    if (task::kWidth > kMostNames) {
        sqlite3_str_appendall(message, ", …");
    }
    char* const text = sqlite3_str_finish(message);
    if (text == nullptr) {
        sqlite3_result_error_nomem(context);
        return;
    }
    sqlite3_result_error(context, text, -1);
    sqlite3_free(text);
}

void give_named(sqlite3_context* context, const Answer& answer, std::string_view name) {
    for (std::uint32_t i = 0; i < task::kWidth; ++i) {
        if (task::name(i) == name) {
            sqlite3_result_double(context, static_cast<double>(answer.values[i]));
            return;
        }
    }
    refuse_name(context, name);
}

void answer(sqlite3_context* context, int count, sqlite3_value** values) {
    for (int i = 0; i < count; ++i) {
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) {
            return;
        }
        if (sqlite3_value_type(values[i]) == SQLITE_BLOB) {
            fail(context, "a text is expected, this is a BLOB");
            return;
        }
    }
    std::string_view texts[2];
    for (int i = 0; i < count; ++i) {
        texts[i] = text_of(values[i]);
        if (texts[i].data() == nullptr) {
            sqlite3_result_error_nomem(context);
            return;
        }
    }
    Session& session = *static_cast<Session*>(sqlite3_user_data(context));
    if (const Status status = task::answer(session.workspace, {texts[0], {}, false}, session.result);
        status != Status::ok) {
        fail(context, describe(status));
        return;
    }
    if (count == 2) {
        give_named(context, task::view(session.result), texts[1]);
    } else {
        give_answer(context, task::view(session.result));
    }
}

float float_at(const void* blob, int index) {
    float value = 0;
    std::memcpy(&value, static_cast<const char*>(blob) + static_cast<std::size_t>(index) * sizeof value, sizeof value);
    return value;
}

// In double, from the first component to the last; of a vector of zeros NULL.
void cosine(sqlite3_context* context, int, sqlite3_value** values) {
    for (int i = 0; i < 2; ++i) {
        if (sqlite3_value_type(values[i]) == SQLITE_NULL) {
            return;
        }
        if (sqlite3_value_type(values[i]) != SQLITE_BLOB) {
            sqlite3_result_error(context, "cosine: BLOBs of float32 are expected", -1);
            return;
        }
    }
    const int bytes = sqlite3_value_bytes(values[0]);
    if (bytes != sqlite3_value_bytes(values[1]) || bytes == 0 || bytes % 4 != 0) {
        sqlite3_result_error(context, "cosine: the two BLOBs are not float32 of equal number", -1);
        return;
    }
    const void* const blobs[2] = {sqlite3_value_blob(values[0]), sqlite3_value_blob(values[1])};
    if (blobs[0] == nullptr || blobs[1] == nullptr) {  // of zeroblob(), whose bytes come only now
        sqlite3_result_error_nomem(context);
        return;
    }
    double product = 0;
    double squares[2] = {0, 0};
    for (int i = 0; i < bytes / 4; ++i) {
        const double a = static_cast<double>(float_at(blobs[0], i));
        const double b = static_cast<double>(float_at(blobs[1], i));
        product += a * b;
        squares[0] += a * a;
        squares[1] += b * b;
    }
    const double length = std::sqrt(squares[0]) * std::sqrt(squares[1]);
    if (length > 0) {
        sqlite3_result_double(context, product / length);
    }
}

int add(sqlite3* connection, const char* name, int count, Session* session) {
    ++session->holders;  // SQLite releases it, also where it fails
    return sqlite3_create_function_v2(connection, name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC, session, answer,
                                      nullptr, nullptr, release);
}

int add_all(sqlite3* connection, Session* session) {
    char own[100];
    std::snprintf(own, sizeof own, "%s_%s", kName, kVerb);
    int code = sqlite3_create_function_v2(connection, "cosine", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nullptr, cosine,
                                          nullptr, nullptr, nullptr);
    for (const char* const name : {kVerb, static_cast<const char*>(own)}) {
        for (int count = 1; count <= (kTask == Task::embedding ? 1 : 2) && code == SQLITE_OK; ++count) {
            code = add(connection, name, count, session);
        }
    }
    return code;
}

}  // namespace
}  // namespace etch::cli

extern "C" int sqlite3_extension_init(sqlite3* connection, char** error, const sqlite3_api_routines* api) {
    SQLITE_EXTENSION_INIT2(api)
    etch::cli::Session* const session = etch::cli::open_session();
    if (session == nullptr) {
        *error = sqlite3_mprintf("etch: memory was refused");
        return SQLITE_NOMEM;
    }
    session->holders = 1;
    const int code = etch::cli::add_all(connection, session);
    etch::cli::release(session);
    return code;
}
