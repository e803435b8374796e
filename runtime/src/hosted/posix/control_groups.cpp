// SPDX-License-Identifier: Apache-2.0
#include "control_groups.hpp"

#include <cstring>

#include "small_file.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace hosted {
namespace {

// The decimal number that `text` begins with, 0 if none, cut from it with the spaces before it.
std::uint64_t take_number(std::string_view& text) noexcept {
    while (!text.empty() && text[0] == ' ')
        text.remove_prefix(1);
    std::uint64_t value = 0;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1))
        value = value * 10 + static_cast<std::uint64_t>(text[0] - '0');
    return value;
}

// Whole processors that `quota` microseconds of each `period` are; 0 for either is no limit.
std::uint32_t processors(std::uint64_t quota, std::uint64_t period) noexcept {
    if (quota == 0 || period == 0 || quota / period >= kNoLimit) return kNoLimit;
    return quota < period ? 1 : static_cast<std::uint32_t>(quota / period);
}

// A file's path, put together without allocation; one that is too long leads nowhere.
class Path {
  public:
    Path& operator+=(std::string_view part) noexcept {
        if (part.size() >= sizeof name_ - size_) {
            size_ = 0;
            part = "";
        }
        std::memcpy(name_ + size_, part.data(), part.size());
        size_ += part.size();
        name_[size_] = '\0';
        return *this;
    }
    const char* name() const noexcept { return name_; }

  private:
    char name_[1024] = "";
    std::size_t size_ = 0;
};

struct Group {
    std::string_view root;
    std::string_view controller;  // folder of version 1; empty: version 2
    std::string_view path;        // "/", "/a/b"
};

std::string_view read(const Group& group, std::string_view file, char (&bytes)[64]) noexcept {
    Path path;
    path += group.root;
    path += group.controller;
    path += group.path == "/" ? "" : group.path;
    path += file;
    return read_small_file(path.name(), bytes, sizeof bytes);
}

std::uint32_t limit_of(const Group& group) noexcept {
    char bytes[64];
    if (group.controller.empty()) {
        std::string_view text = read(group, "/cpu.max", bytes);  // "max 100000" or "150000 100000"
        const std::uint64_t quota = take_number(text);
        return processors(quota, take_number(text));
    }
    std::string_view quota_text = read(group, "/cpu.cfs_quota_us", bytes);  // "-1": no limit
    const std::uint64_t quota = take_number(quota_text);
    std::string_view period_text = read(group, "/cpu.cfs_period_us", bytes);
    return processors(quota, take_number(period_text));
}

std::uint32_t limit_with_those_above(Group group) noexcept {
    std::uint32_t least = kNoLimit;
    for (;;) {
        const std::uint32_t limit = limit_of(group);
        least = limit < least ? limit : least;
        if (group.path.size() <= 1) return least;
        const std::size_t slash = group.path.rfind('/');
        group.path = group.path.substr(0, slash == 0 || slash == std::string_view::npos ? 1 : slash);
    }
}

// True where "cpu" is among "cpu,cpuacct".
bool names_cpu(std::string_view controllers) noexcept {
    while (!controllers.empty()) {
        const std::size_t comma = controllers.find(',');
        if (controllers.substr(0, comma) == "cpu") return true;
        if (comma == std::string_view::npos) return false;
        controllers.remove_prefix(comma + 1);
    }
    return false;
}

}  // namespace

std::uint32_t processors_of_groups(std::string_view groups, std::string_view root) noexcept {
    std::uint32_t least = kNoLimit;
    while (!groups.empty()) {  // "0::/path", "4:cpu,cpuacct:/path"
        const std::size_t end = groups.find('\n');
        const std::string_view line = groups.substr(0, end);
        groups.remove_prefix(end == std::string_view::npos ? groups.size() : end + 1);
        const std::size_t first = line.find(':');
        if (first == std::string_view::npos) continue;
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string_view::npos) continue;
        const std::string_view controllers = line.substr(first + 1, second - first - 1);
        if (!controllers.empty() && !names_cpu(controllers)) continue;
        const Group group{root, controllers.empty() ? "" : "/cpu", line.substr(second + 1)};
        const std::uint32_t limit = limit_with_those_above(group);
        least = limit < least ? limit : least;
    }
    return least;
}

}  // namespace hosted
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
