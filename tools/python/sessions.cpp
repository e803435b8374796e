// SPDX-License-Identifier: Apache-2.0
// C functions of libetch_NAME.so, on top of those of NAME.h: the size of a workspace, for languages that cannot take it
// from a header, and sessions, which answer many texts with several threads.
//
//     size_t etch_NAME_workspace_bytes(void)          of etch_NAME_workspace; 64-byte aligned
//     void*  etch_NAME_session_open(threads, plain)   null where memory or a thread is refused; threads 0: as many as
//                                                     the system allows. plain: special tokens in texts are text
//     void   etch_NAME_session_close(session)
//     uint32_t etch_NAME_session_threads(session)
//     int    etch_NAME_session_run(session, ...)      below; an etch_status
//
// A session answers one call at a time; a process that was forked opens its own.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string_view>

#include "etch/hosted.hpp"
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

namespace etch::cli {
namespace {

constexpr std::size_t kChunk = 32;  // texts that a worker takes at a time
constexpr bool kTags = generated::kTask == Task::tagging;

struct Worker {
    generated::Workspace workspace;
    std::string_view texts[kChunk];
    generated::Result results[kChunk];
};

// Text i is data[offsets[i], offsets[i + 1]): the layout of Arrow's strings.
struct Texts {
    const char* data;
    const void* offsets;  // [count + 1] of int64 where `wide`, else of int32
    std::int32_t wide;

    std::int64_t offset(std::size_t index) const {
        return wide != 0 ? static_cast<const std::int64_t*>(offsets)[index]
                         : static_cast<const std::int32_t*>(offsets)[index];
    }

    std::string_view operator[](std::size_t index) const {
        return {data + offset(index), static_cast<std::size_t>(offset(index + 1) - offset(index))};
    }
};

// Where answers go; what the model's task has not is not written and may be null.
struct Outputs {
    float* values;              // [count][width]: probabilities, values or embeddings
    float* logits;              // the same of a classifier
    std::int32_t* labels;       // [count]
    std::int32_t* tokens;       // [count]
    std::uint8_t* truncated;    // [count]
    TagSpan* spans;             // [count][kMaxTokens], of a tagger
    std::int32_t* span_counts;  // [count]
    std::int32_t aggregation;   // an Aggregation: what its spans are
};

struct Call {
    const Texts& first;
    const Texts* second;  // null: no pairs
    std::size_t count;
    const Outputs& out;
    Worker* workers;
    std::atomic<std::size_t> next{0};
    std::atomic<Status> status{Status::ok};

    void write(std::size_t index, const Answer& answer) const {
        if constexpr (kTags) {
            out.span_counts[index] = static_cast<std::int32_t>(answer.span_count);
        } else {
            std::copy_n(answer.values, task::kWidth, out.values + index * task::kWidth);
        }
        if (out.logits != nullptr && answer.logits != nullptr) {
            std::copy_n(answer.logits, task::kWidth, out.logits + index * task::kWidth);
        }
        if (out.labels != nullptr) {
            out.labels[index] = static_cast<std::int32_t>(answer.label);
        }
        out.tokens[index] = static_cast<std::int32_t>(answer.tokens);
        out.truncated[index] = answer.truncated ? 1 : 0;
    }

    // Where the result of the text `index` has its spans.
    template <class Result>
    void place(Result& result, std::size_t index) const {
        if constexpr (kTags) {
            result.spans = out.spans + index * generated::kMaxTokens;
            result.capacity = generated::kMaxTokens;
            result.aggregation = static_cast<Aggregation>(out.aggregation);
        }
    }

    Status answer(Worker& worker, std::size_t begin, std::size_t size) const {
        for (std::size_t i = 0; i < size; ++i) {
            worker.texts[i] = first[begin + i];
            place(worker.results[i], begin + i);
        }
        if (second == nullptr) {
            return task::answer_batch(worker.workspace, worker.texts, size, worker.results);
        }
        Status status = Status::ok;
        for (std::size_t i = 0; i < size && status == Status::ok; ++i) {
            status = task::answer(worker.workspace, {worker.texts[i], (*second)[begin + i], true}, worker.results[i]);
        }
        return status;
    }

    // One worker's part: chunks, as long as there are any.
    static void run(void* argument, std::uint32_t index) {
        Call& call = *static_cast<Call*>(argument);
        Worker& worker = call.workers[index];
        for (std::size_t first; (first = call.next.fetch_add(kChunk)) < call.count && call.status == Status::ok;) {
            const std::size_t size = std::min(kChunk, call.count - first);
            const Status status = call.answer(worker, first, size);
            if (status != Status::ok) {
                call.status = status;
                return;
            }
            for (std::size_t i = 0; i < size; ++i) {
                call.write(first + i, task::view(worker.results[i]));
            }
        }
    }
};

struct Session {
    explicit Session(std::uint32_t threads) : pool(threads) {}

    hosted::ThreadPool pool;
    Worker* workers = nullptr;  // [pool.threads()]
};

// Memory of malloc(), so that nothing of the C++ library has to come along.
template <typename T>
T* allocate(std::size_t count) {
    static_assert(sizeof(T) % alignof(T) == 0, "aligned_alloc asks for it");
    return static_cast<T*>(std::aligned_alloc(alignof(T), count * sizeof(T)));
}

void close_session(Session* session) {
    std::free(session->workers);
    session->~Session();
    std::free(session);
}

void* open_session(std::uint32_t threads, bool plain_text) {
    if (threads == 0) {
        threads = std::min(hosted::available_threads(), hosted::ThreadPool::kMostThreads);
    }
    void* const memory = allocate<Session>(1);
    if (memory == nullptr) {
        return nullptr;
    }
    auto* const session = new (memory) Session(threads);
    session->workers = allocate<Worker>(threads);
    if (session->workers == nullptr || session->pool.threads() != threads) {
        close_session(session);
        return nullptr;
    }
    for (std::uint32_t i = 0; i < threads; ++i) {
        auto* const worker = new (session->workers + i) Worker();
        if (plain_text) {
            worker->workspace.special_tokens = SpecialTokens::plain_text;
        }
    }
    return session;
}

}  // namespace
}  // namespace etch::cli

#define ETCH_JOINED(name, function) etch_##name##_##function
#define ETCH_EXPANDED(name, function) ETCH_JOINED(name, function)
#define ETCH_FUNCTION(function) ETCH_EXPANDED(ETCH_MODEL, function)

extern "C" {

std::size_t ETCH_FUNCTION(workspace_bytes)() {
    return sizeof(etch::cli::generated::Workspace);
}

void* ETCH_FUNCTION(session_open)(std::uint32_t threads, std::int32_t plain_text) {
    return etch::cli::open_session(threads, plain_text != 0);
}

void ETCH_FUNCTION(session_close)(void* session) {
    etch::cli::close_session(static_cast<etch::cli::Session*>(session));
}

std::uint32_t ETCH_FUNCTION(session_threads)(const void* session) {
    return static_cast<const etch::cli::Session*>(session)->pool.threads();
}

// `first` and, of pairs, `second` are Texts, `outputs` is an Outputs. What is written is of use only with 0.
std::int32_t ETCH_FUNCTION(session_run)(void* session, const void* first, const void* second, std::size_t count,
                                        const void* outputs) {
    using namespace etch::cli;
    auto& own = *static_cast<Session*>(session);
    Call call{*static_cast<const Texts*>(first), static_cast<const Texts*>(second), count,
              *static_cast<const Outputs*>(outputs), own.workers};
    own.pool.run(Call::run, &call);
    return static_cast<std::int32_t>(call.status.load());
}

}  // extern "C"
