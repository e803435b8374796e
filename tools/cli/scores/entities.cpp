// SPDX-License-Identifier: Apache-2.0
#include "entities.hpp"

namespace etch::cli {
namespace {

struct Tag {
    char prefix;
    std::string_view type;
};

Tag read(std::string_view tag) {
    if (tag.empty()) {
        return {'O', "_"};
    }
    std::string_view type = tag.substr(1);
    if (const std::size_t dash = type.find('-'); dash != std::string_view::npos) {
        type.remove_prefix(dash + 1);
    }
    return {tag[0], type.empty() ? "_" : type};
}

bool is_one_of(char prefix, std::string_view prefixes) {
    return prefixes.find(prefix) != std::string_view::npos;
}

bool ends_between(const Tag& tag, const Tag& next) {
    if (is_one_of(tag.prefix, "ES")) {
        return true;
    }
    if (is_one_of(tag.prefix, "BI") && is_one_of(next.prefix, "BSO")) {
        return true;
    }
    return !is_one_of(tag.prefix, "O.") && tag.type != next.type;
}

bool begins_behind(const Tag& tag, const Tag& next) {
    if (is_one_of(next.prefix, "BS")) {
        return true;
    }
    if (is_one_of(tag.prefix, "ESO") && is_one_of(next.prefix, "EI")) {
        return true;
    }
    return !is_one_of(next.prefix, "O.") && tag.type != next.type;
}

}  // namespace

std::vector<Entity> entities_of(const std::vector<std::string_view>& tags) {
    std::vector<Entity> found;
    Tag tag = {'O', ""};
    std::size_t first = 0;
    for (std::size_t word = 0; word <= tags.size(); ++word) {
        const Tag next = word < tags.size() ? read(tags[word]) : Tag{'O', "_"};
        if (ends_between(tag, next)) {
            found.push_back({tag.type, first, word - 1});
        }
        if (begins_behind(tag, next)) {
            first = word;
        }
        tag = next;
    }
    return found;
}

}  // namespace etch::cli
