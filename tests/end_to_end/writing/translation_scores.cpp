// SPDX-License-Identifier: Apache-2.0
// BLEU and chrF of the files named by the arguments: texts and their references, each ended by a zero byte in turn.
#include "../../../tools/cli/scores/translation_scores.hpp"

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

int main(int count, char** names) {
    for (int i = 1; i < count; ++i) {
        std::ifstream file(names[i], std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        etch::cli::TranslationScores scores;
        for (std::size_t at = 0; at < bytes.size();) {
            const std::string text = bytes.c_str() + at;
            const std::string reference = bytes.c_str() + at + text.size() + 1;
            at += text.size() + reference.size() + 2;
            scores.add(text, reference);
        }
        std::printf("%.6f %.6f %llu\n", scores.bleu(), scores.chrf(), static_cast<unsigned long long>(scores.same()));
    }
}
