// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace etch::bench {

// Name of a type without its namespaces: both compilers spell it "... T = etch::v2::LinearS8]".
template <class T>
constexpr std::string_view type_name() noexcept {
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("T = ") + 4);
    text = text.substr(0, text.find_first_of("];"));
    const std::size_t end = text.find('<');
    const std::size_t colon = text.substr(0, end).rfind(':');
    return text.substr(colon == std::string_view::npos ? 0 : colon + 1, end - colon - 1);
}

}  // namespace etch::bench
