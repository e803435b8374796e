// SPDX-License-Identifier: Apache-2.0
// What the firmware sends, to a UART of 115,200 baud and a watchdog.
#include "print.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "board.hpp"
#include "watchdog.hpp"

namespace {

std::string sent;
std::size_t unfed = 0;  // bytes since the watchdog was fed
std::size_t longest = 0;

}  // namespace

void board::send(char byte) {
    sent += byte;
    longest = std::max(longest, ++unfed);
}

void board::feed_watchdog() {
    unfed = 0;
}

namespace {

constexpr std::size_t kBytesPerMillisecond = 115'200 / 10 / 1000;

template <class... Pieces>
std::string printed(const Pieces&... pieces) {
    sent.clear();
    firmware::print_line(pieces...);
    return sent;
}

TEST(Print, Pieces) {
    EXPECT_EQ(printed("a", std::uint64_t{0}, " ", ~std::uint64_t{0}), "a0 18446744073709551615\n");
    EXPECT_EQ(printed(firmware::Bits{1.0F}, " ", firmware::Bits{-0.0F}), "3F800000 80000000\n");
    EXPECT_EQ(printed(firmware::PerCent{0.0F}, " ", firmware::PerCent{0.9996F}), "0.0 % 100.0 %\n");
    EXPECT_EQ(printed(firmware::Escaped{"a\n\t\\\x1B\x7F\xC3"}), "a\\n\\t\\\\\\x1B\\x7F\xC3\n");
}

TEST(Print, AWatchdogIsFedWhileALongAnswerIsSent) {
    constexpr std::size_t kMost = kBytesPerMillisecond * firmware::kWatchdogMilliseconds / 2;
    const std::vector<float> embedding(384);
    sent.clear();
    firmware::print_bits(embedding.data(), 384);
    EXPECT_EQ(sent.size(), 3457);
    const std::string text(3000, '\n');
    EXPECT_EQ(printed(text, firmware::Escaped{text}).size(), 9001);
    EXPECT_LE(longest, kMost);
}

}  // namespace
