// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <string_view>

namespace etch::stack {
namespace {

void erase_all(std::string& text, std::string_view part) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at))
        text.erase(at, part.size());
}

void erase_template_arguments(std::string& text) {
    std::string kept;
    int depth = 0;
    for (const char c : text) {
        if (c == '<') ++depth;
        if (depth == 0) kept += c;
        if (c == '>') --depth;
    }
    text = kept;
}

}  // namespace

std::string readable(const std::string& key) {
    const std::string symbol = key.substr(key.find(':') + 1);  // all of it where there is no colon
    int status = 0;
    char* demangled = abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status);
    if (demangled == nullptr) return symbol;
    std::string name = demangled;
    std::free(demangled);
    erase_all(name, "(anonymous namespace)::");
    erase_template_arguments(name);
    name.erase(name.find('(') == std::string::npos ? name.size() : name.find('('));
    if (const std::size_t space = name.rfind(' '); space != std::string::npos) name.erase(0, space + 1);
    erase_all(name, "etch::");
    if (name.compare(0, 3, "abi") == 0) {
        const std::size_t digits_end = name.find_first_not_of("0123456789", 3);
        if (digits_end != std::string::npos && name.compare(digits_end, 2, "::") == 0) name.erase(0, digits_end + 2);
    }
    return name;
}

}  // namespace etch::stack
