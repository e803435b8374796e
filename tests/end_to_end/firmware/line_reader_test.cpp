// SPDX-License-Identifier: Apache-2.0
// The firmware's line reader, byte by byte, with lost bytes injected.
#include "line_reader.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "etch/tokenizer/utf8.hpp"

namespace {

using etch::tokenizer::well_formed_size;
using firmware::LineEvent;
using firmware::LineReader;
using namespace std::string_literals;

constexpr std::size_t kMost = LineReader::kLineBytes;

// A line end's event and the text that the reader showed with it.
struct Seen {
    LineEvent event;
    std::string text;

    bool operator==(const Seen& other) const { return event == other.event && text == other.text; }
};

std::ostream& operator<<(std::ostream& out, const Seen& seen) {
    return out << static_cast<int>(seen.event) << ' ' << testing::PrintToString(seen.text);
}

// Feeds bytes; LOST in between means that the UART lost some.
constexpr char kLost = '\x01';

std::vector<Seen> feed(LineReader& reader, const std::string& bytes) {
    std::vector<Seen> seen;
    for (const char byte : bytes) {
        if (byte == kLost) {
            reader.lose();
            continue;
        }
        const LineEvent event = reader.take(byte);
        if (event == LineEvent::line || event == LineEvent::invalid_utf8) {
            seen.push_back({event, std::string(reader.text())});
        } else if (event != LineEvent::none) {
            seen.push_back({event, ""});
        }
    }
    return seen;
}

std::vector<Seen> feed(const std::string& bytes) {
    LineReader reader;
    return feed(reader, bytes);
}

Seen line(const std::string& text) {
    return {LineEvent::line, text};
}

using Lines = std::vector<Seen>;

TEST(LineReader, EveryLineEndIsOneEnd) {
    EXPECT_EQ(feed("a\nb\n"), (Lines{line("a"), line("b")}));
    EXPECT_EQ(feed("a\rb\r"), (Lines{line("a"), line("b")}));
    EXPECT_EQ(feed("a\r\nb\r\n"), (Lines{line("a"), line("b")}));
    EXPECT_EQ(feed("a\r\n\r\nb\n"), (Lines{line("a"), {LineEvent::empty, ""}, line("b")}));
    EXPECT_EQ(feed("a\n\rb\n"), (Lines{line("a"), {LineEvent::empty, ""}, line("b")}));
    EXPECT_EQ(feed("a"), Lines{});
}

TEST(LineReader, AnEmptyLineIsNamed) {
    EXPECT_EQ(feed("\n\n"), (Lines{{LineEvent::empty, ""}, {LineEvent::empty, ""}}));
    LineReader reader;
    feed(reader, "abc\n\n");
    EXPECT_EQ(reader.text(), "");
}

TEST(LineReader, TheLongestLineIsWhole) {
    const std::string most(kMost, 'x');
    EXPECT_EQ(feed(most + "\nabc\n"), (Lines{line(most), line("abc")}));
}

TEST(LineReader, ALongerLineIsNamedOnceAndTheNextIsWhole) {
    for (const std::size_t size : {kMost + 1, kMost + 2, 2 * kMost, 1000 * kMost}) {
        EXPECT_EQ(feed(std::string(size, 'x') + "\nabc\n"), (Lines{{LineEvent::too_long, ""}, line("abc")})) << size;
    }
}

TEST(LineReader, LostBytesAreNamedAtTheLineEnd) {
    const Seen lost{LineEvent::overrun, ""};
    EXPECT_EQ(feed("ab\1c\nd\n"), (Lines{lost, line("d")}));
    EXPECT_EQ(feed("\1abc\nd\n"), (Lines{lost, line("d")}));
    EXPECT_EQ(feed("abc\1\nd\n"), (Lines{lost, line("d")}));
    EXPECT_EQ(feed("\1\1\1\nd\n"), (Lines{lost, line("d")}));
    EXPECT_EQ(feed("abc\n\1d\n"), (Lines{line("abc"), lost}));
    EXPECT_EQ(feed("a\1" + std::string(2 * kMost, 'x') + "\nd\n"), (Lines{lost, line("d")}));
    EXPECT_EQ(feed("a\1\xff\nd\n"), (Lines{lost, line("d")}));
    EXPECT_EQ(feed("a\r\1\nd\n"), (Lines{line("a"), {LineEvent::overrun, ""}}));
}

TEST(LineReader, InvalidTextIsNamedWithItsPlace) {
    LineReader reader;
    EXPECT_EQ(feed(reader, "ab\xff\n"), (Lines{{LineEvent::invalid_utf8, "ab\xff"}}));
    EXPECT_EQ(reader.invalid_at(), 2U);
    EXPECT_EQ(feed(reader, "caf\xc3\xa9 \xe2\x82\n"), (Lines{{LineEvent::invalid_utf8, "caf\xc3\xa9 \xe2\x82"}}));
    EXPECT_EQ(reader.invalid_at(), 6U);
    EXPECT_EQ(feed(reader, "caf\xc3\xa9\n"), Lines{line("caf\xc3\xa9")});
}

TEST(LineReader, AnyByteButLineEndsIsText) {
    std::string all;
    for (char byte = 0; byte < 0x7f; ++byte) {
        if (byte != '\n' && byte != '\r' && byte != kLost) all += byte;
    }
    EXPECT_EQ(feed(all + "\n"), Lines{line(all)});
}

// Whatever comes, each line end gives one event, and a line without losses is judged by itself.
TEST(LineReader, RandomBytes) {
    const unsigned seed = 20260;
    std::mt19937 random(seed);
    const std::string alphabet = "ab\xc3\xa9\xf0\x9f\n\r\n\1"s;
    LineReader reader;
    for (int round = 0; round < 20000; ++round) {
        std::string text;
        for (auto size = random() % 8; size > 0; --size) {
            text += alphabet[random() % 6];
        }
        const bool lost = random() % 8 == 0;
        const Lines seen = feed(reader, (lost ? text + kLost : text) + "\n");
        ASSERT_EQ(seen.size(), 1U) << seed;
        const LineEvent wanted = lost                                    ? LineEvent::overrun
                                 : text.empty()                          ? LineEvent::empty
                                 : well_formed_size(text) == text.size() ? LineEvent::line
                                                                         : LineEvent::invalid_utf8;
        ASSERT_EQ(seen[0].event, wanted) << testing::PrintToString(text);
    }
    const std::string noise = [&] {
        std::string bytes;
        for (int i = 0; i < 100000; ++i) {
            bytes += alphabet[random() % alphabet.size()];
        }
        return bytes;
    }();
    feed(reader, noise + "\n\n");  // two: the first may belong to a CR
    EXPECT_EQ(feed(reader, "good\n"), Lines{line("good")});
}

}  // namespace
