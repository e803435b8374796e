// SPDX-License-Identifier: Apache-2.0
// Entities in the tags of words, by the rules of conlleval, as seqeval's get_entities has them. No model in here.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace etch::cli {

struct Entity {
    std::string_view type;  // behind the prefix; "_" where a tag has only that
    std::size_t first;      // word
    std::size_t last;

    bool operator==(const Entity& other) const {
        return type == other.type && first == other.first && last == other.last;
    }
};

// Of tags PREFIX-TYPE, the prefix one of B, I, E, S; O is outside. In the order of their last words.
std::vector<Entity> entities_of(const std::vector<std::string_view>& tags);

}  // namespace etch::cli
