// SPDX-License-Identifier: Apache-2.0
// What the hosted library asks of the operating system, and what it says where there is no answer.
#include "etch/hosted.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <vector>

#include "hosted/posix/status_text.hpp"
#include "lowered_limit.hpp"

namespace {

using etch::hosted::kilobytes_of;

TEST(PeakMemory, CountsWhatWasTouched) {
    const std::size_t before = etch::hosted::peak_memory_bytes();
    if (before == 0) GTEST_SKIP() << "this system does not say";
    constexpr std::size_t kMore = std::size_t{64} << 20;
    const std::vector<char> touched(before + kMore, 'x');  // more than earlier tests have touched and given back
    EXPECT_EQ(touched.back(), 'x');
    EXPECT_GE(etch::hosted::peak_memory_bytes(), before + kMore);
}

TEST(PeakMemory, ZeroWhereTheSystemDoesNotSay) {
    const LoweredLimit no_files(RLIMIT_NOFILE, 0);
    EXPECT_EQ(etch::hosted::peak_memory_bytes(), 0U);
}

TEST(StatusText, NumberBehindAKey) {
    EXPECT_EQ(kilobytes_of("Name:\tx\nVmHWM:\t   1234 kB\nVmRSS:\t  7 kB\n", "\nVmHWM:"), 1234U);
    EXPECT_EQ(kilobytes_of("\nVmHWM: 90", "\nVmHWM:"), 90U);
    EXPECT_EQ(kilobytes_of("\nVmHWM:5kB", "\nVmHWM:"), 5U);
    EXPECT_EQ(kilobytes_of("\nVmHWM:\t \t19/7", "\nVmHWM:"), 19U);
}

TEST(StatusText, ZeroWithoutANumber) {
    EXPECT_EQ(kilobytes_of("", "\nVmHWM:"), 0U);
    EXPECT_EQ(kilobytes_of("Name:\tVmHWM: 5\n", "\nVmHWM:"), 0U);
    EXPECT_EQ(kilobytes_of("\nVmHWM:", "\nVmHWM:"), 0U);
    EXPECT_EQ(kilobytes_of("\nVmHWM:  \n", "\nVmHWM:"), 0U);
    EXPECT_EQ(kilobytes_of("\nVmHWM: many 5", "\nVmHWM:"), 0U);
}

TEST(Environment, TheKernelAskedFor) {
    ASSERT_EQ(unsetenv("ETCH_KERNEL"), 0);
    EXPECT_EQ(etch::hosted::kernel_from_environment(), "");
    ASSERT_EQ(setenv("ETCH_KERNEL", "scalar", 1), 0);
    EXPECT_EQ(etch::hosted::kernel_from_environment(), "scalar");
    ASSERT_EQ(unsetenv("ETCH_KERNEL"), 0);
}

TEST(Clock, DoesNotGoBack) {
    const auto first = etch::hosted::monotonic_nanoseconds();
    EXPECT_LE(first, etch::hosted::monotonic_nanoseconds());
}

}  // namespace
