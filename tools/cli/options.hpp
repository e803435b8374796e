// SPDX-License-Identifier: Apache-2.0
// What an option of the command line is, and those that a task has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "arguments.hpp"

namespace etch::cli {

constexpr unsigned bit(Mode mode) {
    return 1U << static_cast<unsigned>(mode);
}

inline constexpr unsigned kTexts = bit(Mode::texts);
inline constexpr unsigned kRows = bit(Mode::evaluate);
inline constexpr unsigned kChoosesMode = 0;  // the option says what to do; two that disagree are refused
inline constexpr Mode kNone = Mode::texts;

using Values = const std::string_view*;

struct Option {
    std::string_view name;
    int values;
    unsigned modes;  // in which the option means something, or kChoosesMode
    Mode mode;       // chosen, where modes == kChoosesMode
    void (*apply)(Options&, Values);
    bool repeats = false;  // where it has one value; those with two always may be
};

// Options of a task, or of several. Each group enters a list when the program starts: an option that the model's task
// does not have is known from it, and refused as such.
class OptionGroup {
  public:
    template <std::size_t kCount>
    explicit OptionGroup(const Option (&options)[kCount]) : begin_(options), end_(options + kCount), next_(all_) {
        all_ = this;
    }
    OptionGroup(const OptionGroup&) = delete;
    OptionGroup& operator=(const OptionGroup&) = delete;

    // Null where there is none of this name.
    const Option* find(std::string_view name) const;
    static const Option* find_in_any(std::string_view name);

  private:
    const Option* begin_;
    const Option* end_;
    const OptionGroup* next_;
    static const OptionGroup* all_;
};

// A value that is a number. Another ends the program with exit code 2.
std::uint32_t number(std::string_view option, std::string_view text, std::uint32_t low, std::uint32_t high);

// Ends the program with exit code 2.
[[noreturn]] void refuse_together(const char* one, const char* other);

}  // namespace etch::cli
