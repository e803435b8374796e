// SPDX-License-Identifier: Apache-2.0
// Which workers of an executor get which units of an op, with which scratch; and which rows belong to which text.
#include <gtest/gtest.h>

#include <vector>

#include "etch/ops/op.hpp"
#include "etch/ops/texts.hpp"
#include "support.hpp"

namespace etch::testing {
namespace {

constexpr std::size_t kScratch = 64;

struct Ran {
    std::uint8_t* scratch;
    std::uint32_t first;
    std::uint32_t last;
    bool operator==(const Ran& other) const {
        return scratch == other.scratch && first == other.first && last == other.last;
    }
};

struct RecordingOp {
    std::uint64_t cost_of_all;
    std::uint32_t count;
    std::vector<Ran>& runs;

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return cost_of_all; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
        runs.push_back({context.scratch, first, last});
    }
};

class Sharing : public ::testing::Test {
  protected:
    // Workers from the last to the first: their order is nobody's business.
    static void run_backwards(void* context, void (*task)(void*, std::uint32_t), void* argument) noexcept {
        const Sharing& self = *static_cast<Sharing*>(context);
        for (std::uint32_t worker = self.executor_.workers; worker-- > 0;)
            task(argument, worker);
    }

    static void run_first(void*, void (*task)(void*, std::uint32_t), void* argument) noexcept { task(argument, 0); }

    std::vector<Ran> runs(std::uint64_t cost, std::uint32_t units, std::uint32_t workers) {
        std::vector<Ran> found;
        executor_ = {workers, this, run_backwards, others_};
        SharingRunner({scalar(Packing::panel), own_}, workers == 0 ? nullptr : &executor_,
                      kScratch)(RecordingOp{cost, units, found});
        return found;
    }

    Executor executor_{};
    std::uint8_t own_[kScratch];
    std::uint8_t others_[3 * kScratch];
};

TEST_F(Sharing, EachWorkerHasItsUnitsAndItsScratch) {
    const std::vector<Ran> want = {
        {others_ + 2 * kScratch, 7, 10}, {others_ + kScratch, 5, 7}, {others_, 2, 5}, {own_, 0, 2}};
    EXPECT_EQ(runs(100 * kLeastShare, 10, 4), want);
}

TEST_F(Sharing, WithoutAnExecutorOrWithOneWorkerNothingIsShared) {
    const std::vector<Ran> want = {{own_, 0, 10}};
    EXPECT_EQ(runs(100 * kLeastShare, 10, 0), want);
    EXPECT_EQ(runs(100 * kLeastShare, 10, 1), want);
}

TEST_F(Sharing, SmallOpsStayInTheCallingThread) {
    const std::vector<Ran> alone = {{own_, 0, 10}};
    EXPECT_EQ(runs(0, 10, 4), alone);
    EXPECT_EQ(runs(2 * kLeastShare - 1, 10, 4), alone);
    const std::vector<Ran> two = {{others_, 5, 10}, {own_, 0, 5}};
    EXPECT_EQ(runs(2 * kLeastShare, 10, 4), two);
}

TEST_F(Sharing, NoMoreWorkersThanUnits) {
    const std::vector<Ran> want = {{others_, 1, 2}, {own_, 0, 1}};
    EXPECT_EQ(runs(100 * kLeastShare, 2, 4), want);
    EXPECT_EQ(runs(100 * kLeastShare, 0, 4), (std::vector<Ran>{{own_, 0, 0}}));
}

// An op in other units from so many workers on.
struct OpWithRows : RecordingOp {
    RecordingOp rows;
    std::uint32_t least_workers;

    bool prefers_rows(std::uint32_t workers) const noexcept { return workers >= least_workers; }
    const RecordingOp& by_rows() const noexcept { return rows; }
};

TEST_F(Sharing, RowsAreSharedWhereTheOpPrefersThem) {
    std::vector<Ran> found;
    executor_ = {4, this, run_backwards, others_};
    const SharingRunner run({scalar(Packing::panel), own_}, &executor_, kScratch);
    run(OpWithRows{{2 * kLeastShare, 10, found}, {2 * kLeastShare, 30, found}, 2});
    run(OpWithRows{{2 * kLeastShare, 10, found}, {2 * kLeastShare, 30, found}, 3});
    run(OpWithRows{{1, 10, found}, {1, 30, found}, 1});
    const std::vector<Ran> want = {{others_, 15, 30}, {own_, 0, 15}, {others_, 5, 10}, {own_, 0, 5}, {own_, 0, 10}};
    EXPECT_EQ(found, want);
}

TEST_F(Sharing, BehindAnOpThatFailedNoneIsRun) {
    executor_ = {2, nullptr, run_first, others_};
    const SharingRunner run({scalar(Packing::panel), own_}, &executor_, kScratch);
    std::vector<Ran> found;
    run(RecordingOp{1, 3, found});
    EXPECT_EQ(run.status(), Status::ok);
    run(RecordingOp{100 * kLeastShare, 10, found});
    EXPECT_EQ(run.status(), Status::executor_failed);
    run(RecordingOp{1, 3, found});
    run(RecordingOp{100 * kLeastShare, 10, found});
    EXPECT_EQ(found, (std::vector<Ran>{{own_, 0, 3}, {own_, 0, 5}}));
    EXPECT_EQ(run.status(), Status::executor_failed);
}

TEST_F(Sharing, NoMoreWorkersThanAttendanceIsTakenOf) {
    EXPECT_EQ(sharing_workers(1000 * kLeastShare, 1000, 1000), kMostSharing);
    EXPECT_EQ(sharing_workers(1000 * kLeastShare, 1000, kMostSharing - 1), kMostSharing - 1);
}

TEST(Attendance, EachWorkerOnceInAnyOrder) {
    Attendance attendance(kMostSharing);
    for (std::uint32_t worker = kMostSharing; worker-- > 0;) {
        EXPECT_FALSE(attendance.complete());
        EXPECT_TRUE(attendance.enter(worker));
    }
    EXPECT_TRUE(attendance.complete());
}

TEST(Attendance, WhoDoesNotBelongChangesNothing) {
    Attendance attendance(2);
    EXPECT_FALSE(attendance.enter(2));
    EXPECT_FALSE(attendance.enter(~std::uint32_t{0}));
    EXPECT_TRUE(attendance.enter(1));
    EXPECT_FALSE(attendance.complete());
    EXPECT_TRUE(attendance.enter(0));
    EXPECT_TRUE(attendance.complete());
}

TEST(Attendance, AWorkerThatComesAgainDoesNothingAndIsNoticed) {
    Attendance attendance(2);
    EXPECT_TRUE(attendance.enter(0));
    EXPECT_TRUE(attendance.enter(1));
    for (int again = 0; again < 3; ++again) {
        EXPECT_FALSE(attendance.enter(1));
        EXPECT_FALSE(attendance.complete());
    }
}

struct Part {
    std::uint32_t place;
    std::uint32_t row;
    std::uint32_t token;
    std::uint32_t count;
    bool operator==(const Part& other) const {
        return place == other.place && row == other.row && token == other.token && count == other.count;
    }
};

std::vector<Part> parts(const Texts& texts, RowBlock block) {
    std::vector<Part> found;
    for (const TextPart part : TextParts(texts, block))
        found.push_back({part.text.place, part.row, part.token, part.count});
    return found;
}

TEST(Texts, ABlockIsCutWhereTextsEnd) {
    const TextRows rows[] = {whole_text(3), whole_text(20, 3, 16), whole_text(1, 23, 48)};
    const Texts texts{rows, 3};
    EXPECT_EQ(texts.rows(), 24u);
    EXPECT_EQ(parts(texts, {0, 24}), (std::vector<Part>{{0, 0, 0, 3}, {16, 3, 0, 20}, {48, 23, 0, 1}}));
    EXPECT_EQ(parts(texts, {2, 5}), (std::vector<Part>{{0, 0, 2, 1}, {16, 1, 0, 4}}));
    EXPECT_EQ(parts(texts, {7, 5}), (std::vector<Part>{{16, 0, 4, 5}}));
    EXPECT_EQ(parts(texts, {22, 2}), (std::vector<Part>{{16, 0, 19, 1}, {48, 1, 0, 1}}));
    EXPECT_EQ(parts(texts, {3, 0}), (std::vector<Part>{}));
}

TEST(Texts, FirstRowsOnly) {
    const TextRows rows[] = {whole_text(3), whole_text(20, 3, 16), whole_text(1, 23, 48)};
    const Texts texts = Texts{rows, 3}.first_rows();
    EXPECT_EQ(texts.rows(), 3u);
    EXPECT_EQ(parts(texts, {1, 2}), (std::vector<Part>{{16, 0, 0, 1}, {48, 1, 0, 1}}));
}

TEST(Texts, NoBatchHasMoreThanPlaces) {
    EXPECT_EQ(most_texts(1), 1u);
    EXPECT_EQ(most_texts(16), 1u);
    EXPECT_EQ(most_texts(17), 2u);
    EXPECT_EQ(most_texts(512), 32u);
}

}  // namespace
}  // namespace etch::testing
