// SPDX-License-Identifier: Apache-2.0
// Whose turn it is at a workspace: who has it not, looks at nothing there.
#include "etch/calls/turn.hpp"

#include <gtest/gtest.h>

namespace etch::calls {
namespace {

int looks = 0;  // at tables and regions
Status found = Status::ok;

struct Looked {
    static Status check() noexcept {
        ++looks;
        return found;
    }
};

struct FakeWorkspace {
    using Tables = Looked;
    Looked regions;
    std::atomic<std::uintptr_t> in_use{0};
};

TEST(Turn, WhoIsSentAwayLooksAtNothing) {
    FakeWorkspace workspace;
    found = Status::ok;
    looks = 0;
    {
        const Turn first{workspace};
        ASSERT_TRUE(first);
        EXPECT_EQ(looks, 2);
        const Turn second{workspace};
        EXPECT_FALSE(second);
        EXPECT_EQ(second.refusal(), Status::workspace_in_use);
        EXPECT_EQ(looks, 2);
    }
    const Turn next{workspace};
    EXPECT_TRUE(next);
    EXPECT_EQ(looks, 4);
}

TEST(Turn, WithoutItsMemoryThereIsNone) {
    FakeWorkspace workspace;
    found = Status::region_missing;
    {
        const Turn turn{workspace};
        EXPECT_FALSE(turn);
        EXPECT_EQ(turn.refusal(), Status::region_missing);
    }
    EXPECT_EQ(workspace.in_use.load(), 0U);
}

TEST(Turn, OneThatIsLentIsFreeForOneResult) {
    FakeWorkspace workspace;
    found = Status::ok;
    const int result = 0;
    const int other = 0;
    const Turn turn{workspace};
    turn.lend(&result);
    EXPECT_FALSE((Turn{workspace, &other}));
    EXPECT_TRUE((Turn{workspace, &result}));
    EXPECT_TRUE((Turn{workspace, &result}));
}

}  // namespace
}  // namespace etch::calls
