// SPDX-License-Identifier: Apache-2.0
#include "squad_scores.hpp"

#include <algorithm>

#include "../text/utf8.hpp"
#include "etch/tokenizer/characters.hpp"

namespace etch::cli {
namespace {

constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

AnswerMeasures measure(const std::vector<std::string>& answer, const std::vector<std::string>& right) {
    const double exact = answer == right ? 1.0 : 0.0;
    if (answer.empty() || right.empty()) {
        return {exact, exact};
    }
    std::vector<std::string> left = right;
    std::size_t same = 0;
    for (const std::string& word : answer) {
        if (const auto found = std::find(left.begin(), left.end(), word); found != left.end()) {
            left.erase(found);
            ++same;
        }
    }
    return {exact, 2 * static_cast<double>(same) / static_cast<double>(answer.size() + right.size())};
}

}  // namespace

std::vector<std::string> normalized_words(std::string_view text) {
    // Words of \w, which the articles are looked for in; what lies between two of them stays where it is no space.
    std::string kept;
    std::string word;
    const auto end_word = [&] {
        kept += word == "a" || word == "an" || word == "the" ? " " : word;
        word.clear();
    };
    for (std::size_t at = 0; at < text.size();) {
        const tokenizer::Decoded point = tokenizer::decode(text.substr(at), 0);
        at += point.size;
        const std::uint32_t scalar = lower_case(point.scalar);
        if (scalar < 0x80 && kPunctuation.find(static_cast<char>(scalar)) != std::string_view::npos) {
            continue;
        }
        if (is_word_character(scalar)) {
            append_utf8(word, scalar);
            continue;
        }
        end_word();
        if (is_space_character(scalar)) {
            kept += ' ';
        } else {
            append_utf8(kept, scalar);
        }
    }
    end_word();
    std::vector<std::string> words;
    for (std::size_t at = 0; (at = kept.find_first_not_of(' ', at)) != std::string::npos;) {
        const std::size_t end = std::min(kept.find(' ', at), kept.size());
        words.push_back(kept.substr(at, end - at));
        at = end;
    }
    return words;
}

AnswerMeasures measure_answer(std::string_view answer, const std::vector<std::string>& right) {
    const std::vector<std::string> words = normalized_words(answer);
    AnswerMeasures best = right.empty() ? measure(words, {}) : AnswerMeasures{0.0, 0.0};
    for (const std::string& one : right) {
        const AnswerMeasures found = measure(words, normalized_words(one));
        best = {std::max(best.exact, found.exact), std::max(best.f1, found.f1)};
    }
    return best;
}

}  // namespace etch::cli
