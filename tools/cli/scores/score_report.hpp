// SPDX-License-Identifier: Apache-2.0
// What --evaluate says: lines, or with --json one object of the same in the same order. No model in here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace etch::cli {

// A key is the name of a line in lower case, with _ for what is neither letter nor digit: `micro F1: 91.23 %` is
// "micro_f1": 0.9123.
class ScoreReport {
  public:
    explicit ScoreReport(bool json) : json_(json), out_(json ? "{" : "") {}

    bool json() const { return json_; }

    // From 0 to 1, `accuracy: 91.23 %`. `-` or null where there is no value, here and below.
    void share(const char* name, std::optional<double> value);
    // `mean squared error: 0.123456`
    void number(const char* name, std::optional<double> value);

    // In the object alone.
    void field(std::string_view key, std::string_view text);
    void field(std::string_view key, std::uint64_t count);
    void field(std::string_view key, std::optional<double> value);
    // "key": [{…}, …]: item(i) adds to the i-th.
    template <class Item>
    void list(std::string_view key, std::uint32_t count, Item item) {
        begin(key);
        for (std::uint32_t i = 0; i < count; ++i) {
            begin_item();
            item(i);
            end('}');
        }
        end(']');
    }
    // "key": value, which is JSON.
    void raw(std::string_view key, std::string_view value);

    // In the lines alone.
    void text(std::string_view lines);

    // All of it, with a last LF.
    std::string done() const { return json_ ? out_ + "}\n" : out_; }

  private:
    void append_key(std::string_view key);
    void begin(std::string_view key);
    void begin_item();
    void end(char bracket);

    bool json_;
    bool first_ = true;  // of the innermost object or array
    std::string out_;
};

}  // namespace etch::cli
