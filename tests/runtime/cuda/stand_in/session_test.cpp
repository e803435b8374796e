// SPDX-License-Identifier: Apache-2.0
// Weights and sessions over the stand-ins: what they take, that nothing is taken later, and what every failure becomes.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "etch/cuda/device.hpp"
#include "small_model.hpp"
#include "stand_in/faults.hpp"
#include "stand_in/memory.hpp"

namespace {

using namespace etch;
using namespace etch::testing;
using cuda::DeviceSession;
using cuda::DeviceWeights;
using cuda::Mode;
using etch_stand_in::alive;
using etch_stand_in::Fault;
using etch_stand_in::Machine;
using etch_stand_in::set_fault;
using etch_stand_in::set_machine;

class StandIn : public ::testing::Test {
  protected:
    void SetUp() override { reset(); }
    void TearDown() override {
        reset();
        EXPECT_EQ(alive().objects(), 0u);
        EXPECT_EQ(etch_stand_in::overruns(), 0);
    }
    static void reset() {
        set_fault({});
        set_machine({});
    }

    static Status open_weights(DeviceWeights& weights, int device = 0) {
        return cuda::open(weights, kSmallModel, device, Mode::exact);
    }
    static Status open_session(DeviceSession& session, const DeviceWeights& weights, std::uint32_t rows = 64) {
        return cuda::open(session, weights, kSmallModel, rows);
    }
    static Status batch(DeviceSession& session) {
        const std::string_view texts[] = {"one", "two more words", "three"};
        std::uint32_t computed = 0;
        const Status status = cuda::compute_batch(session, texts, 3, computed);
        EXPECT_EQ(computed, status == Status::ok ? 3u : 0u);
        return status;
    }

    static Status machine_says(const Machine& machine, int device = 0) {
        set_machine(machine);
        DeviceWeights weights;
        const Status status = open_weights(weights, device);
        EXPECT_EQ(weights.is_open(), status == Status::ok);
        weights.close();
        reset();
        return status;
    }
};

TEST_F(StandIn, SaysWhyAMachineHasNoUsableDevice) {
    EXPECT_EQ(machine_says({}), Status::ok);
    Machine machine;
    machine.devices = 0;
    EXPECT_EQ(machine_says(machine), Status::no_device);
    machine = {};
    machine.driver_version = 0;
    EXPECT_EQ(machine_says(machine), Status::no_device);
    machine.driver_version = 12000;
    EXPECT_EQ(machine_says(machine), Status::driver_too_old);
    EXPECT_EQ(machine_says({}, 1), Status::device_unknown);
    EXPECT_EQ(machine_says({}, -1), Status::device_unknown);
    machine = {};
    machine.capability_major = 7;
    machine.capability_minor = 5;
    EXPECT_EQ(machine_says(machine), Status::device_not_supported);
    machine = {};
    machine.memory_bytes = 1000;
    EXPECT_EQ(machine_says(machine), Status::device_out_of_memory);
}

TEST_F(StandIn, DescribesTheDevice) {
    cuda::DeviceInfo info;
    ASSERT_EQ(cuda::device_info(0, info), Status::ok);
    EXPECT_STREQ(info.name, "stand-in");
    EXPECT_EQ(info.capability, 90u);
    EXPECT_EQ(info.driver_version, 13000u);
    EXPECT_EQ(info.runtime_version, static_cast<std::uint32_t>(CUDART_VERSION));
    EXPECT_EQ(info.memory_bytes, Machine{}.memory_bytes);
}

TEST_F(StandIn, ModesOutsideTheRecipeAreRefused) {
    static const cuda::ModelPlan fast_only = [] {
        cuda::ModelPlan plan = kSmallModel;
        plan.exact = false;
        return plan;
    }();
    DeviceWeights weights;
    EXPECT_EQ(cuda::open(weights, fast_only, 0, Mode::exact), Status::mode_not_supported);
    EXPECT_FALSE(weights.is_open());
    EXPECT_EQ(kSmallModel.weights_bytes(Mode::fast), 0u);
    EXPECT_EQ(kSmallModel.lay_out(Mode::fast, nullptr, cuda::capacity_of(64)).bytes, 0u);
}

TEST_F(StandIn, TakesWhatThePlanSaysAndNothingLater) {
    DeviceWeights weights;
    ASSERT_EQ(open_weights(weights), Status::ok);
    EXPECT_EQ(alive().device_bytes, kSmallModel.weights_bytes(Mode::exact));
    EXPECT_EQ(alive().device_allocations, 1u);
    EXPECT_EQ(alive().streams, 0u);
    {
        DeviceSession session;
        ASSERT_EQ(open_session(session, weights, 300), Status::ok);
        const std::size_t bytes = cuda::session_bytes(kSmallModel, Mode::exact, 300);
        EXPECT_EQ(session.figures.device_bytes, bytes);
        EXPECT_EQ(alive().device_bytes, kSmallModel.weights_bytes(Mode::exact) + bytes);
        EXPECT_EQ(alive().device_allocations, 2u);
        EXPECT_EQ(alive().host_bytes, session.figures.host_bytes);
        EXPECT_EQ(alive().executables, 2u);
        EXPECT_EQ(alive().graphs, 0u);

        const etch_stand_in::Alive before = alive();
        set_fault({});
        for (int i = 0; i < 3; ++i) {
            EXPECT_EQ(cuda::compute(session, "a text"), Status::ok);
            EXPECT_EQ(batch(session), Status::ok);
        }
        EXPECT_EQ(std::memcmp(&before, &alive(), sizeof before), 0);
        EXPECT_EQ(etch_stand_in::calls_of("cublasLtMatmulAlgoGetHeuristic"), 0u);
        EXPECT_EQ(etch_stand_in::calls_of("cudaGraphLaunch"), 3u);
    }
    EXPECT_EQ(alive().device_bytes, kSmallModel.weights_bytes(Mode::exact));
    weights.close();
}

TEST_F(StandIn, AsksForEachAlgorithmOnce) {
    DeviceWeights weights;
    DeviceSession session;
    ASSERT_EQ(open_weights(weights), Status::ok);
    set_fault({});
    ASSERT_EQ(open_session(session, weights, 3000), Status::ok);
    EXPECT_EQ(etch_stand_in::calls_of("cublasLtMatmulAlgoGetHeuristic"), cuda::bucket_count(3000));
}

TEST_F(StandIn, SessionsAreForOneTextAtLeast) {
    DeviceWeights weights;
    DeviceSession session;
    EXPECT_EQ(open_session(session, weights), Status::not_open);
    ASSERT_EQ(open_weights(weights), Status::ok);
    EXPECT_EQ(open_session(session, weights, kSmallTokens - 1), Status::rows_out_of_range);
    EXPECT_EQ(open_session(session, weights, cuda::kMostRows + 1), Status::rows_out_of_range);
    EXPECT_EQ(open_session(session, weights, 0xFFFFFFFF), Status::rows_out_of_range);
    for (const std::uint32_t rows : {0u, kSmallTokens - 1, cuda::kMostRows + 1, 0xFFFFFFFFu})
        EXPECT_EQ(cuda::session_bytes(kSmallModel, Mode::exact, rows), 0u);
    EXPECT_EQ(cuda::compute(session, "a text"), Status::not_open);
    EXPECT_EQ(batch(session), Status::not_open);
    EXPECT_EQ(open_session(session, weights, kSmallTokens), Status::ok);
}

TEST_F(StandIn, ASessionThatDoesNotFitSaysSo) {
    DeviceWeights weights;
    DeviceSession session;
    ASSERT_EQ(open_weights(weights), Status::ok);
    Machine machine;
    machine.memory_bytes =
        kSmallModel.weights_bytes(Mode::exact) + cuda::session_bytes(kSmallModel, Mode::exact, 64) - 1;
    set_machine(machine);
    EXPECT_EQ(open_session(session, weights), Status::device_out_of_memory);
    EXPECT_FALSE(session.is_open());
    ++machine.memory_bytes;
    set_machine(machine);
    EXPECT_EQ(open_session(session, weights), Status::ok);
}

TEST_F(StandIn, TheCallersDeviceStaysCurrent) {
    Machine machine;
    machine.devices = 3;
    set_machine(machine);
    ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
    {
        DeviceWeights weights;
        DeviceSession session;
        ASSERT_EQ(open_weights(weights, 1), Status::ok);
        ASSERT_EQ(open_session(session, weights), Status::ok);
        ASSERT_EQ(cuda::compute(session, "a text"), Status::ok);
    }
    int device = 0;
    ASSERT_EQ(cudaGetDevice(&device), cudaSuccess);
    EXPECT_EQ(device, 2);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

// Calls `step`, in which the n-th call fails, for every n until no call is left to fail; `expect` sees each outcome.
template <class Step, class Expect>
std::uint64_t fail_each_call(Step step, Expect expect) {
    for (std::uint64_t n = 1;; ++n) {
        Fault fault;
        fault.at = n;
        set_fault(fault);
        const Status status = step();
        const bool failed = etch_stand_in::failed_call() != nullptr;
        const std::string call = failed ? etch_stand_in::failed_call() : "";
        set_fault({});
        if (!failed) {
            EXPECT_EQ(status, Status::ok);
            return n - 1;
        }
        const bool library = call.rfind("cublas", 0) == 0;
        EXPECT_EQ(status, library ? Status::device_library_failed : Status::device_failed) << call << ", call " << n;
        expect(call);
    }
}

TEST_F(StandIn, EveryCallThatFailsWhileWeightsAreOpenedIsReportedAndLeavesNothing) {
    DeviceWeights weights;
    const std::uint64_t calls = fail_each_call([&] { return open_weights(weights); },
                                               [&](const std::string& call) {
                                                   EXPECT_FALSE(weights.is_open()) << call;
                                                   EXPECT_EQ(alive().objects(), 0u) << call;
                                               });
    EXPECT_GT(calls, 25u);
    EXPECT_TRUE(weights.is_open());
}

TEST_F(StandIn, EveryCallThatFailsWhileASessionIsOpenedIsReportedAndLeavesNothing) {
    DeviceWeights weights;
    ASSERT_EQ(open_weights(weights), Status::ok);
    const std::uint64_t before = alive().objects();
    DeviceSession session;
    const std::uint64_t calls = fail_each_call([&] { return open_session(session, weights); },
                                               [&](const std::string& call) {
                                                   EXPECT_FALSE(session.is_open()) << call;
                                                   EXPECT_EQ(alive().objects(), before) << call;
                                               });
    EXPECT_GT(calls, 60u);
    EXPECT_EQ(cuda::compute(session, "a text"), Status::ok);
}

TEST_F(StandIn, EveryCallThatFailsInAPassIsReportedByEachLaterCall) {
    DeviceWeights weights;
    DeviceSession session;
    ASSERT_EQ(open_weights(weights), Status::ok);
    for (const bool alone : {true, false}) {
        const auto pass = [&] { return alone ? cuda::compute(session, "a text") : batch(session); };
        ASSERT_EQ(open_session(session, weights), Status::ok);
        const std::uint64_t calls = fail_each_call(pass, [&](const std::string& call) {
            EXPECT_NE(session.failure, Status::ok) << call;
            EXPECT_EQ(cuda::compute(session, "another"), session.failure);
            EXPECT_EQ(batch(session), session.failure);
            ASSERT_EQ(open_session(session, weights), Status::ok);
        });
        EXPECT_GT(calls, alone ? 2u : 8u);
    }
}

TEST_F(StandIn, AnErrorThatStaysIsReportedAndEverythingCanBeClosed) {
    DeviceWeights weights;
    DeviceSession session;
    ASSERT_EQ(open_weights(weights), Status::ok);
    ASSERT_EQ(open_session(session, weights), Status::ok);
    Fault fault;
    fault.at = 1;
    fault.cuda = cudaErrorIllegalAddress;
    fault.sticky = true;
    set_fault(fault);
    EXPECT_EQ(cuda::compute(session, "a text"), Status::device_failed);
    EXPECT_EQ(cuda::compute(session, "a text"), Status::device_failed);
    EXPECT_EQ(open_session(session, weights), Status::device_failed);
    session.close();
    weights.close();
    EXPECT_EQ(alive().objects(), 0u);
}

TEST_F(StandIn, SingleTextsAndBatchesGiveTheSameBits) {
    DeviceWeights weights;
    DeviceSession session;
    ASSERT_EQ(open_weights(weights), Status::ok);
    ASSERT_EQ(open_session(session, weights, 100), Status::ok);
    const std::string words =
        "this text has more words than the others and needs the second bucket of rows, it is said, "
        "or does it not need as many as that";
    const std::vector<std::string_view> texts{"one", words, "two", "", words, words, words, "three"};
    std::vector<std::vector<float>> alone;
    for (const std::string_view text : texts) {
        ASSERT_EQ(cuda::compute(session, text), Status::ok);
        const cuda::TextOutput out = cuda::output(session, 0);
        alone.emplace_back(out.values.data, out.values.data + kSmallWidth);
    }
    std::size_t passes = 0;
    for (std::size_t done = 0; done < texts.size(); ++passes) {
        std::uint32_t computed = 0;
        ASSERT_EQ(cuda::compute_batch(session, texts.data() + done, texts.size() - done, computed), Status::ok);
        for (std::uint32_t i = 0; i < computed; ++i) {
            const cuda::TextOutput out = cuda::output(session, i);
            EXPECT_EQ(std::memcmp(out.values.data, alone[done + i].data(), kSmallWidth * sizeof(float)), 0) << done + i;
            EXPECT_EQ(out.truncated, false);
        }
        done += computed;
    }
    EXPECT_GT(passes, 1u);
}

TEST_F(StandIn, TakesPairsWhereTheirSegmentsAreThere) {
    auto one_segment = agnews::kTokenizer;
    for (TemplatePart& part : one_segment.parts.pair)
        part.segment = 0;
    const TokenLimits limits{kSmallTokens, kSmallVocabulary, 1};
    using Modes = cuda::ModesOf<SmallExact>;
    const cuda::ModelPlan without = Modes::plan(agnews::kTokenizer, limits, kSmallWidth, 1);
    const cuda::ModelPlan with = Modes::plan(one_segment, limits, kSmallWidth, 1);
    for (const cuda::ModelPlan* plan : {&kSmallModel, &without, &with}) {
        DeviceWeights weights;
        DeviceSession session;
        ASSERT_EQ(cuda::open(weights, *plan, 0, Mode::exact), Status::ok);
        ASSERT_EQ(cuda::open(session, weights, *plan, 64), Status::ok);
        EXPECT_EQ(cuda::compute_pair(session, "one", "two"),
                  plan == &without ? Status::pair_not_supported : Status::ok);
    }
}

TEST_F(StandIn, LongTextsAreCutAlsoWhereTheyBeginABatch) {
    DeviceWeights weights;
    DeviceSession session;
    ASSERT_EQ(open_weights(weights), Status::ok);
    ASSERT_EQ(open_session(session, weights, 64), Status::ok);
    std::string longest;
    for (int i = 0; i < 60; ++i)
        longest += "word ";
    const std::string_view texts[] = {"short", longest, longest};
    std::uint32_t computed = 0;
    ASSERT_EQ(cuda::compute_batch(session, texts, 3, computed), Status::ok);
    EXPECT_EQ(computed, 2u);  // 3 + 40 of 64 rows; the third is cut by the model, not by what is left
    EXPECT_EQ(cuda::output(session, 1).tokens, kSmallTokens);
    EXPECT_TRUE(cuda::output(session, 1).truncated);
    EXPECT_FALSE(cuda::output(session, 0).truncated);
}

}  // namespace
