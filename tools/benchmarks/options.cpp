// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string_view>

namespace etch::bench {

namespace {

bool is_expression(const std::string& text) {
    try {
        std::regex{text};
        return true;
    } catch (const std::regex_error&) {
        return false;
    }
}

}  // namespace

Options parse_options(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string_view name = argv[i];
        std::string* value = name == "--filter"   ? &options.filter
                             : name == "--kernel" ? &options.kernel
                             : name == "--json"   ? &options.json
                             : name == "--texts"  ? &options.texts
                                                  : nullptr;
        if (name == "--quick") {
            options.quick = true;
        } else if (name == "--list") {
            options.list = true;
        } else if (value != nullptr && i + 1 < argc) {
            *value = argv[++i];
        } else {
            std::fprintf(stderr, "%s: unknown option or missing value: %s\n", argv[0], argv[i]);
            std::exit(2);
        }
    }
    if (!is_expression(options.filter)) {
        std::fprintf(stderr, "bench: --filter: '%s' is no regular expression\n", options.filter.c_str());
        std::exit(2);
    }
    return options;
}

}  // namespace etch::bench
