// SPDX-License-Identifier: Apache-2.0
// An executor that forgets an op while a model writes: the call says so, whatever the arena held before, does none of
// the ops behind it, and reads nothing behind the arena, where there is an unreadable page. The next call is right
// again. The model searches with beams, and its text has ops that are shared.
#include ETCH_MODEL_HEADER

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

namespace model = etch::ETCH_MODEL;

namespace {

using etch::Status;

#define CHECK(condition)                                        \
    do {                                                        \
        if (!(condition)) {                                     \
            std::printf("line %d: %s\n", __LINE__, #condition); \
            return 1;                                           \
        }                                                       \
    } while (false)

constexpr std::uint32_t kWorkers = 2;
alignas(64) std::uint8_t scratch[(kWorkers - 1) * model::kScratchBytes];
std::int32_t ids[model::kMaxTokens];
constexpr std::uint32_t kTexts = 3;

struct Session {
    std::uint32_t fails_at;  // the op from which on nobody is called
    std::uint32_t ops = 0;
};

void run_some(void* context, void (*task)(void*, std::uint32_t), void* argument) noexcept {
    Session& session = *static_cast<Session*>(context);
    if (session.ops++ >= session.fails_at) return;
    for (std::uint32_t worker = 0; worker < kWorkers; ++worker)
        task(argument, worker);
}

// Its last byte is the last one before the page.
model::Workspace* workspace_at_an_edge() {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t bytes = (sizeof(model::Workspace) + page - 1) / page * page;
    void* const memory = mmap(nullptr, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    auto* const end = static_cast<std::uint8_t*>(memory) + bytes;
    if (mprotect(end, page, PROT_NONE) != 0) return nullptr;
    return new (end - sizeof(model::Workspace)) model::Workspace;
}

struct Told {
    model::Result results[kTexts];
    std::int32_t targets[kTexts][model::kMaxTarget];
};

enum class Way { alone, by_token, batch };

Status write(model::Workspace& workspace, Way way, Told& told) {
    constexpr std::uint32_t count = model::kMaxTokens;
    if (way == Way::alone)
        return model::ETCH_TASK(_tokens)(workspace, ids, count, told.targets[0], model::kMaxTarget, told.results[0]);
    if (way == Way::batch) {
        const std::uint32_t begins[] = {0, count, count + 1, 2 * count + 1};
        std::int32_t of_all[2 * count + 1];
        std::memcpy(of_all, ids, sizeof ids);
        of_all[count] = 5;
        std::memcpy(of_all + count + 1, ids, sizeof ids);
        return model::ETCH_TASK(_tokens_batch)(workspace, of_all, begins, kTexts, told.targets[0], model::kMaxTarget,
                                               told.results);
    }
    Status status = model::begin_tokens(workspace, ids, count);
    if (status == Status::ok) status = Status::in_progress;
    while (status == Status::in_progress)
        status = model::next_tokens(workspace, told.targets[0], model::kMaxTarget, told.results[0]);
    if (status == Status::executor_failed &&
        model::next_tokens(workspace, told.targets[0], model::kMaxTarget, told.results[0]) != Status::not_begun)
        return Status::in_progress;
    return status;
}

int run(model::Workspace& workspace, Way way, std::uint32_t& faults) {
    static Told meant;
    static Told told;
    std::memset(static_cast<void*>(&meant), 0x5C, sizeof meant);
    workspace.executor = nullptr;
    CHECK(write(workspace, way, meant) == Status::ok);
    Session session{~std::uint32_t{0}};
    const etch::Executor executor{kWorkers, &session, run_some, scratch};
    workspace.executor = &executor;
    std::memset(static_cast<void*>(&told), 0x5C, sizeof told);
    CHECK(write(workspace, way, told) == Status::ok);
    CHECK(std::memcmp(&told, &meant, sizeof told) == 0);
    CHECK(session.ops > 0);
    const std::uint32_t ops = session.ops;
    for (const std::uint8_t byte : {std::uint8_t{0xFF}, std::uint8_t{0x7F}, std::uint8_t{0}}) {
        for (std::uint32_t op = 0; op < ops; op += op < 8 ? 1 : 5) {
            std::memset(workspace.arena, byte, sizeof workspace.arena);
            session = {op};
            CHECK(write(workspace, way, told) == Status::executor_failed);
            CHECK(session.ops == op + 1);  // behind it nothing is computed, and nothing was found
            CHECK(model::found_tokens(workspace, 0, told.targets[0], model::kMaxTarget, told.results[0]) ==
                  Status::not_begun);
            ++faults;
        }
    }
    session = {~std::uint32_t{0}};
    std::memset(static_cast<void*>(&told), 0x5C, sizeof told);
    CHECK(write(workspace, way, told) == Status::ok);
    CHECK(std::memcmp(&told, &meant, sizeof told) == 0);
    return 0;
}

}  // namespace

int main() {
    model::Workspace* const workspace = workspace_at_an_edge();
    if (workspace == nullptr) return 2;
    for (std::uint32_t i = 0; i < model::kMaxTokens; ++i)
        ids[i] = static_cast<std::int32_t>(4 + i % 7);
    std::uint32_t faults = 0;
    const etch::Sampling sampling{3, 0, 1.0f, 0, 1.0f};
    for (const etch::Sampling* const drawn : {&sampling, static_cast<const etch::Sampling*>(nullptr)}) {
        workspace->sampling = drawn;
        for (const std::uint8_t beams : {std::uint8_t{1}, std::uint8_t{0}}) {
            workspace->beams = beams;
            for (const Way way : {Way::alone, Way::by_token, Way::batch}) {
                if (run(*workspace, way, faults) != 0) return 1;
            }
        }
    }
    std::printf("%u faults found: same bits\n", faults);
    return 0;
}
