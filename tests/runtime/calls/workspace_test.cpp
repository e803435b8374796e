// SPDX-License-Identifier: Apache-2.0
// What calls ask of a workspace: its kernels, and which memory is its own.
#include <gtest/gtest.h>

#include "etch/calls/kernel.hpp"
#include "etch/calls/memory.hpp"
#include "fake_workspace.hpp"

namespace etch::testing {
namespace {

struct FakeEncoder {
    static constexpr const KernelList& kKernels = kPanelKernels;
};

TEST(Kernel, IsChosenWhileNobodyComputes) {
    FakeWorkspace workspace;
    ASSERT_EQ(calls::select_kernel<FakeEncoder>(workspace, "scalar"), Status::ok);
    EXPECT_EQ(calls::kernel<FakeEncoder>(workspace), "scalar");
    EXPECT_EQ(calls::select_kernel<FakeEncoder>(workspace, "abacus"), Status::kernel_unknown);
    {
        const InUse another{workspace};
        EXPECT_EQ(calls::select_kernel<FakeEncoder>(workspace, "scalar"), Status::workspace_in_use);
        EXPECT_EQ(calls::kernel<FakeEncoder>(workspace), "");
    }
    EXPECT_EQ(calls::kernel<FakeEncoder>(workspace), "scalar");
}

TEST(MemoryOfACall, IsTheWorkspaceAndEachRegion) {
    FakeWorkspace workspace;
    std::uint8_t memory[100];
    workspace.regions = {{memory, memory + 50}};
    const auto has = [&](const void* byte) {
        return calls::in_memory_of(workspace, [&](const Written& piece) { return piece.holds(byte, 1); });
    };
    const std::uint8_t* const first = reinterpret_cast<const std::uint8_t*>(&workspace);
    const std::uint8_t* const own[] = {first,      first + sizeof workspace - 1, memory, memory + 15, memory + 50,
                                       memory + 81};
    for (const std::uint8_t* const inside : own)
        EXPECT_TRUE(has(inside));
    for (const std::uint8_t* const beside : {memory + 16, memory + 49, memory + 82})
        EXPECT_FALSE(has(beside));
}

// A program may copy the tables of any model before its first call.
TEST(TablesInPlace, AreThereBeforeAndBehindACopy) {
    EXPECT_EQ(TablesInPlace::check(), Status::ok);
    TablesInPlace::copy();
    EXPECT_EQ(TablesInPlace::check(), Status::ok);
}

}  // namespace
}  // namespace etch::testing
