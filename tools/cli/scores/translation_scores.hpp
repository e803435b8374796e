// SPDX-License-Identifier: Apache-2.0
// BLEU (Papineni et al., 2002) and chrF (Popovic, 2015) of texts against one reference each, as sacreBLEU 2.6 has them
// without options: tokenization 13a, smoothing exp; characters without spaces up to 6, beta 2. No model in here.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace etch::cli {

// The text as mteval-v13a splits it, a space between two tokens.
std::string tokenized_13a(std::string_view text);

class TranslationScores {
  public:
    void add(std::string_view written, std::string_view reference);

    std::uint64_t rows() const { return rows_; }
    std::uint64_t same() const { return same_; }  // rows that are the reference, byte by byte
    double bleu() const;                          // 0 to 100, as is
    double chrf() const;

  private:
    // Of the n-grams of one length.
    struct Counts {
        std::uint64_t written = 0;
        std::uint64_t reference = 0;
        std::uint64_t common = 0;
    };

    std::array<Counts, 4> words_{};
    std::array<Counts, 6> characters_{};
    std::uint64_t rows_ = 0;
    std::uint64_t same_ = 0;
};

}  // namespace etch::cli
