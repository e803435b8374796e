// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <utility>

namespace etch::bench {

Machine this_machine() {
    Machine machine;
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line) && !line.empty();) {  // the first processor
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) continue;
        const std::string key = line.substr(0, line.find('\t'));
        const std::string value = line.substr(colon + 2);
        if (key == "model name") machine.cpu = value;
        if (key == "cpu family") machine.family = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
        if (key == "model") machine.model = static_cast<unsigned>(std::strtoul(value.c_str(), nullptr, 10));
    }
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        machine.processors = static_cast<unsigned>(CPU_COUNT(&allowed));
#if defined(__clang__)
    machine.compiler = __VERSION__;
#else
    machine.compiler = "GCC " __VERSION__;
#endif
    return machine;
}

std::string cache_of(std::size_t bytes) {
#if defined(_SC_LEVEL1_DCACHE_SIZE)
    constexpr std::pair<int, const char*> kCaches[] = {
        {_SC_LEVEL1_DCACHE_SIZE, "L1"}, {_SC_LEVEL2_CACHE_SIZE, "L2"}, {_SC_LEVEL3_CACHE_SIZE, "L3"}};
    bool told = false;
    for (const auto& [key, name] : kCaches) {
        const long size = sysconf(key);
        if (size <= 0) continue;
        told = true;
        if (bytes <= static_cast<std::size_t>(size)) return name;
    }
    if (told) return "memory";
#else
    static_cast<void>(bytes);
#endif
    return "";
}

}  // namespace etch::bench
