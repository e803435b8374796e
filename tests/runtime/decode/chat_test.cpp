// SPDX-License-Identifier: Apache-2.0
// The text of a conversation, worked out by hand; tests/codegen/chat holds what templates of Jinja make of them.
#include "etch/chat.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

namespace etch {
namespace {

Chat brackets() {
    Chat chat;
    chat.before = "<u>";
    chat.before_system = "<s>";
    chat.behind_system = "</s><u>";
    chat.before_answer = "</u><a>";
    chat.behind_answer = "</a><u>";
    chat.ask = "</u><a>";
    chat.takes_system = true;
    return chat;
}

std::string written(const Chat& chat, const std::vector<std::string_view>& messages,
                    std::optional<std::string_view> system = std::nullopt) {
    const std::string_view* const said = system ? &*system : nullptr;
    std::string text(chat_text(chat, said, messages.data(), messages.size(), nullptr, 0), '?');
    EXPECT_EQ(chat_text(chat, said, messages.data(), messages.size(), text.data(), text.size()), text.size());
    return text;
}

TEST(Chat, MessagesStandBetweenFixedText) {
    EXPECT_EQ(written(brackets(), {"a"}), "<u>a</u><a>");
    EXPECT_EQ(written(brackets(), {"a", "b", "c"}), "<u>a</u><a>b</a><u>c</u><a>");
    EXPECT_EQ(written(brackets(), {"a", "b", "c"}, "d"), "<s>d</s><u>a</u><a>b</a><u>c</u><a>");
    EXPECT_EQ(written(brackets(), {""}, ""), "<s></s><u></u><a>");
}

TEST(Chat, ThereIsNoSuchConversation) {
    const std::string_view messages[] = {"a", "b"};
    const std::string_view system = "c";
    Chat chat = brackets();
    EXPECT_EQ(chat_text(chat, nullptr, messages, 0, nullptr, 0), 0U);
    EXPECT_EQ(chat_text(chat, nullptr, messages, 2, nullptr, 0), 0U);
    chat.takes_system = false;
    EXPECT_EQ(chat_text(chat, &system, messages, 1, nullptr, 0), 0U);
    EXPECT_FALSE(Chat{}.exists());
    EXPECT_EQ(chat_text(Chat{}, nullptr, messages, 1, nullptr, 0), 0U);
}

TEST(Chat, WhatHasNoRoomIsLeftOut) {
    const std::string_view messages[] = {"ab", "cd", "ef"};
    const std::string whole = "<u>ab</u><a>cd</a><u>ef</u><a>";
    for (std::size_t capacity = 0; capacity <= whole.size() + 2; ++capacity) {
        std::string text(whole.size() + 2, '?');
        EXPECT_EQ(chat_text(brackets(), nullptr, messages, 3, text.data(), capacity), whole.size());
        const std::size_t room = capacity < whole.size() ? capacity : whole.size();
        EXPECT_EQ(text, whole.substr(0, room) + std::string(text.size() - room, '?'));
    }
}

TEST(Chat, WhiteSpaceIsPythons) {
    Chat chat = brackets();
    chat.trim_user = Trim::white_space;
    constexpr std::string_view kSpaces =
        "\t\n\v\f\r\x1C\x1D\x1E\x1F \xC2\x85\xC2\xA0\xE1\x9A\x80\xE2\x80\x80\xE2\x80\x8A\xE2\x80\xA8\xE2\x80\xA9"
        "\xE2\x80\xAF\xE2\x81\x9F\xE3\x80\x80";
    const std::string around = std::string(kSpaces) + "a" + std::string(kSpaces) + "b" + std::string(kSpaces);
    EXPECT_EQ(written(chat, {around}), "<u>a" + std::string(kSpaces) + "b</u><a>");
    EXPECT_EQ(written(chat, {kSpaces}), "<u></u><a>");
    for (const std::string_view other : {"\x1B", "\xE2\x80\x8B", "\xC2", "\xE2\x80", "\xA0", "\xE1\xA0\x8E"})
        EXPECT_EQ(written(chat, {other}), "<u>" + std::string(other) + "</u><a>");
}

TEST(Chat, EachMessageHasItsTrim) {
    Chat chat = brackets();
    chat.trim_user = Trim::first_line_feeds;
    chat.trim_system = Trim::white_space;
    EXPECT_EQ(written(chat, {"\n\n a\n", "\n b ", "\n\n"}, " s\n"), "<s>s</s><u> a\n</u><a>\n b </a><u></u><a>");
    chat.trim_answer = Trim::white_space;
    EXPECT_EQ(written(chat, {"a", "\n b ", "c"}), "<u>a</u><a>b</a><u>c</u><a>");
}

TEST(Chat, ThinkingIsLeftOutOfAnswers) {
    Chat chat = brackets();
    chat.thinking_end = "/t";
    EXPECT_EQ(written(chat, {"x/ty", "a/tb/t\nc", "d"}), "<u>x/ty</u><a>\nc</a><u>d</u><a>");
    EXPECT_EQ(written(chat, {"a", "b/", "c"}), "<u>a</u><a>b/</a><u>c</u><a>");
    EXPECT_EQ(written(chat, {"a", "b/t", "c"}), "<u>a</u><a></a><u>c</u><a>");
    chat.trim_behind_thinking = Trim::first_line_feeds;
    EXPECT_EQ(written(chat, {"a", "b/t\n\nc\n", "d", "\ne", "f"}), "<u>a</u><a>c\n</a><u>d</u><a>\ne</a><u>f</u><a>");
}

TEST(Chat, ListsOfC) {
    const etch_text messages[] = {{"ab", 1}, {"b", 1}, {"c", 1}};
    char text[64];
    const std::size_t size = chat_text(brackets(), nullptr, messages, 3, text, sizeof text);
    EXPECT_EQ(std::string(text, size), "<u>a</u><a>b</a><u>c</u><a>");
}

}  // namespace
}  // namespace etch
