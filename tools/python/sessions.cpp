// SPDX-License-Identifier: Apache-2.0
// C functions of libetch_NAME.so, on top of those of NAME.h: the size of a workspace, for languages that cannot take it
// from a header, and sessions, which answer many texts with several threads.
//
//     size_t etch_NAME_workspace_bytes(void)          of etch_NAME_workspace; 64-byte aligned
//     size_t etch_NAME_use_huge_pages(void)           etch::hosted::use_huge_pages(), for the library's constants
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

#if !defined(ETCH_MODEL) || !defined(ETCH_MODEL_HEADER) || !defined(ETCH_CALLS_HEADER) || !defined(ETCH_BATCH)
// The name in the namespace etch, the header's file name, and what knows the task's calls: rows.hpp, answers.hpp or
// writing.hpp, with tasks/classify.hpp or another of that folder as ETCH_TASK_HEADER for rows, and the name of the call
// of several texts for writing.
#error "ETCH_MODEL, ETCH_MODEL_HEADER, ETCH_CALLS_HEADER and ETCH_BATCH must be defined"
#endif

#include ETCH_MODEL_HEADER

namespace etch::cli {
namespace generated = etch::ETCH_MODEL;
}

#include ETCH_CALLS_HEADER

namespace etch::shared {
namespace {

struct Call {
    const Texts& first;
    const Texts* second;  // null: no pairs
    std::size_t count;
    const Outputs& out;
    Worker* workers;
    std::atomic<std::size_t> next{0};
    std::atomic<Status> status{Status::ok};

    // One worker's part: chunks, as long as there are any.
    static void run(void* argument, std::uint32_t index) {
        Call& call = *static_cast<Call*>(argument);
        for (std::size_t first; (first = call.next.fetch_add(kChunk)) < call.count && call.status == Status::ok;) {
            const std::size_t size = std::min(kChunk, call.count - first);
            const Status status = answer(call.workers[index], index, call.first, call.second, first, size, call.out);
            if (status != Status::ok) {
                call.status = status;
                return;
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
}  // namespace etch::shared

#define ETCH_JOINED(name, function) etch_##name##_##function
#define ETCH_EXPANDED(name, function) ETCH_JOINED(name, function)
#define ETCH_FUNCTION(function) ETCH_EXPANDED(ETCH_MODEL, function)

extern "C" {

std::size_t ETCH_FUNCTION(workspace_bytes)() {
    return sizeof(etch::shared::generated::Workspace);
}

std::size_t ETCH_FUNCTION(use_huge_pages)() {
    return etch::hosted::use_huge_pages();
}

void* ETCH_FUNCTION(session_open)(std::uint32_t threads, std::int32_t plain_text) {
    return etch::shared::open_session(threads, plain_text != 0);
}

void ETCH_FUNCTION(session_close)(void* session) {
    etch::shared::close_session(static_cast<etch::shared::Session*>(session));
}

std::uint32_t ETCH_FUNCTION(session_threads)(const void* session) {
    return static_cast<const etch::shared::Session*>(session)->pool.threads();
}

// `first` and, of pairs, `second` are Texts, `outputs` is the Outputs of the task. What is written is of use only with
// 0.
std::int32_t ETCH_FUNCTION(session_run)(void* session, const void* first, const void* second, std::size_t count,
                                        const void* outputs) {
    using namespace etch::shared;
    auto& own = *static_cast<Session*>(session);
    Call call{*static_cast<const Texts*>(first), static_cast<const Texts*>(second), count,
              *static_cast<const Outputs*>(outputs), own.workers};
    own.pool.run(Call::run, &call);
    return static_cast<std::int32_t>(call.status.load());
}

}  // extern "C"
