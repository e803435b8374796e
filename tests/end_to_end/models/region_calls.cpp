// SPDX-License-Identifier: Apache-2.0
// A workspace whose buffers lie in several regions: without all of them a call does nothing, and with them it has the
// bits of the golden texts, whatever lies there before and wherever they are; nothing is written beside them, and no
// text may lie there.
#include ETCH_MODEL_HEADER

#include <cstdio>
#include <cstring>
#include <string_view>

namespace {

namespace model = etch::ETCH_MODEL;
using etch::Status;

#define CHECK(condition)                               \
    if (!(condition)) {                                \
        std::printf("line %d: " #condition, __LINE__); \
        return 1;                                      \
    }

constexpr std::size_t kGuard = 256;
constexpr std::size_t kRegions = model::Workspace::kRegions;
constexpr std::size_t kMost = std::size_t{1} << 22;

alignas(64) std::uint8_t memory[kRegions][kMost];
model::Workspace workspace;

// Every region between guards, and its own bytes and the arena full of `byte`.
void give(std::uint8_t byte) {
    std::memset(memory, 0x5C, sizeof memory);
    std::memset(workspace.arena, byte, sizeof workspace.arena);
    for (std::size_t i = 0; i < kRegions; ++i) {
        workspace.regions[i] = memory[i] + kGuard;
        std::memset(workspace.regions[i], byte, workspace.regions.kBytes[i]);
    }
}

bool whole() {
    for (std::size_t i = 0; i < kRegions; ++i)
        for (std::size_t at = 0; at < kMost; ++at) {
            const bool inside = at >= kGuard && at < kGuard + workspace.regions.kBytes[i];
            if (!inside && memory[i][at] != 0x5C) return false;
        }
    return true;
}

int run() {
    CHECK(model::self_test(workspace) == Status::region_missing);
    CHECK(!model::kernel(workspace).empty());  // needs none
    for (const std::uint8_t byte : {std::uint8_t{0}, std::uint8_t{0xFF}, std::uint8_t{0x7F}}) {
        give(byte);
        CHECK(model::self_test(workspace) == Status::ok);
        CHECK(whole());
    }
    model::Encoding encoding;
    for (std::size_t i = 0; i < kRegions; ++i) {
        std::uint8_t* const begin = workspace.regions[i];
        CHECK(reinterpret_cast<std::uintptr_t>(begin) % 64 == 0);
        std::memcpy(begin, "a text", 6);
        const std::string_view inside(reinterpret_cast<const char*>(begin), 6);
        CHECK(model::encode(workspace, inside, encoding) == Status::text_overlaps);
        workspace.regions[i] = begin + 16;
        CHECK(model::encode(workspace, "a text", encoding) == Status::region_misaligned);
        workspace.regions[i] = nullptr;
        CHECK(model::encode(workspace, "a text", encoding) == Status::region_missing);
        workspace.regions[i] = begin;
    }
    CHECK(model::encode(workspace, "a text", encoding) == Status::ok);
    CHECK(model::self_test(workspace) == Status::ok);
    return 0;
}

}  // namespace

int main() {
    return run();
}
