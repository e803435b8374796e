// SPDX-License-Identifier: Apache-2.0
#include "translation_scores.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "../text/utf8.hpp"
#include "etch/tokenizer/characters.hpp"

namespace etch::cli {
namespace {

// What n-grams are made of: where each token or character of a text begins and ends.
using Units = std::vector<std::pair<std::size_t, std::size_t>>;

constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

constexpr bool is_stop(char c) {
    return c == '.' || c == ',';
}

// ASCII that is neither letter nor digit, but for the apostrophe, the comma, the hyphen and the full stop.
constexpr bool stands_alone(char c) {
    return (c >= '{' && c <= '~') || (c >= '[' && c <= '`') || (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') ||
           (c >= ':' && c <= '@') || c == '/';
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
        text.replace(at, what.size(), by);
    }
}

// One pass of a regular expression of two characters: where both fit, neither is looked at again.
template <class Fits, class Write>
std::string rewritten(std::string_view text, Fits fits, Write write) {
    std::string out;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (at + 1 < text.size() && fits(text[at], text[at + 1])) {
            write(out, text[at], text[at + 1]);
            ++at;
        } else {
            out += text[at];
        }
    }
    return out;
}

// `use(begin, end, is_space)` of each character.
template <class Use>
void each_character(std::string_view text, Use use) {
    for (std::size_t at = 0; at < text.size();) {
        const tokenizer::Decoded point = tokenizer::decode(text.substr(at), 0);
        use(at, at + point.size, is_space_character(point.scalar));
        at += point.size;
    }
}

std::string without_spaces(std::string_view text) {
    std::string out;
    each_character(text, [&](std::size_t begin, std::size_t end, bool is_space) {
        out += is_space ? std::string_view() : text.substr(begin, end - begin);
    });
    return out;
}

Units characters_of(std::string_view text) {
    Units units;
    each_character(text, [&](std::size_t begin, std::size_t end, bool) { units.emplace_back(begin, end); });
    return units;
}

// Runs of what is no space.
Units words_of(std::string_view text) {
    Units units;
    bool inside = false;
    each_character(text, [&](std::size_t begin, std::size_t end, bool is_space) {
        if (!is_space && inside) {
            units.back().second = end;
        } else if (!is_space) {
            units.emplace_back(begin, end);
        }
        inside = !is_space;
    });
    return units;
}

// Sorted.
std::vector<std::string_view> grams(std::string_view text, const Units& units, std::size_t order) {
    std::vector<std::string_view> found;
    for (std::size_t i = 0; i + order <= units.size(); ++i) {
        found.push_back(text.substr(units[i].first, units[i + order - 1].second - units[i].first));
    }
    std::sort(found.begin(), found.end());
    return found;
}

template <class Counts, std::size_t kOrders>
void count(std::array<Counts, kOrders>& counts, std::string_view written, const Units& of_written,
           std::string_view reference, const Units& of_reference, bool needs_reference) {
    std::vector<std::string_view> common;
    for (std::size_t order = 1; order <= kOrders; ++order) {
        const auto ours = grams(written, of_written, order);
        const auto theirs = grams(reference, of_reference, order);
        common.clear();
        std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(common));
        Counts& all = counts[order - 1];
        all.written += needs_reference && theirs.empty() ? 0 : ours.size();
        all.reference += theirs.size();
        all.common += common.size();
    }
}

double part(std::uint64_t some, std::uint64_t all) {
    return all == 0 ? 0.0 : static_cast<double>(some) / static_cast<double>(all);
}

}  // namespace

std::string tokenized_13a(std::string_view text) {
    const Units trimmed = words_of(text);
    std::string line(text.substr(0, trimmed.empty() ? 0 : trimmed.back().second));
    constexpr std::pair<std::string_view, std::string_view> kEntities[] = {
        {"<skipped>", ""}, {"-\n", ""}, {"\n", " "}, {"&quot;", "\""}, {"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}};
    for (const auto& [what, by] : kEntities) {
        replace_all(line, what, by);
    }
    std::string apart = " ";
    for (const char c : line) {
        if (stands_alone(c)) {
            apart += {' ', c, ' '};
        } else {
            apart += c;
        }
    }
    apart += ' ';
    apart = rewritten(
        apart, [](char a, char b) { return !is_digit(a) && is_stop(b); },
        [](std::string& out, char a, char b) {
            out += {a, ' ', b, ' '};
        });
    apart = rewritten(
        apart, [](char a, char b) { return is_stop(a) && !is_digit(b); },
        [](std::string& out, char a, char b) {
            out += {' ', a, ' ', b};
        });
    apart = rewritten(
        apart, [](char a, char b) { return is_digit(a) && b == '-'; },
        [](std::string& out, char a, char b) {
            out += {a, ' ', b, ' '};
        });
    std::string out;
    for (const auto& [begin, end] : words_of(apart)) {
        out += out.empty() ? "" : " ";
        out.append(apart, begin, end - begin);
    }
    return out;
}

void TranslationScores::add(std::string_view written, std::string_view reference) {
    ++rows_;
    same_ += written == reference ? 1U : 0U;
    const std::string ours = tokenized_13a(written);
    const std::string theirs = tokenized_13a(reference);
    count(words_, ours, words_of(ours), theirs, words_of(theirs), false);
    const std::string left = without_spaces(written);
    const std::string right = without_spaces(reference);
    count(characters_, left, characters_of(left), right, characters_of(right), true);
}

double TranslationScores::bleu() const {
    double logarithms = 0.0;
    double smoothing = 1.0;  // halves the share of each length that nothing is found of
    if (words_[0].common == 0) {
        return 0.0;
    }
    for (const Counts& counts : words_) {
        if (counts.written == 0) {
            return 0.0;
        }
        smoothing *= counts.common == 0 ? 2.0 : 1.0;
        const double found = counts.common == 0 ? 1.0 / smoothing : static_cast<double>(counts.common);
        logarithms += std::log(100.0 * found / static_cast<double>(counts.written));
    }
    const auto size = static_cast<double>(words_[0].written);
    const auto wanted = static_cast<double>(words_[0].reference);
    const double brevity = size < wanted ? std::exp(1.0 - wanted / size) : 1.0;
    return brevity * std::exp(logarithms / static_cast<double>(words_.size()));
}

double TranslationScores::chrf() const {
    constexpr double kBeta = 2.0;
    double precision = 0.0;
    double recall = 0.0;
    int orders = 0;
    for (const Counts& counts : characters_) {
        if (counts.written != 0 && counts.reference != 0) {
            precision += part(counts.common, counts.written);
            recall += part(counts.common, counts.reference);
            ++orders;
        }
    }
    if (precision + recall == 0.0) {
        return 0.0;
    }
    precision /= orders;
    recall /= orders;
    return 100.0 * (1.0 + kBeta * kBeta) * precision * recall / (kBeta * kBeta * precision + recall);
}

}  // namespace etch::cli
