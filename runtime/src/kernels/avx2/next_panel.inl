// SPDX-License-Identifier: Apache-2.0
// The weights of the next panel, on their way into the second cache while one panel is multiplied. Included inside the
// namespace of avx2, behind steps_s8.inl.
//
// The hardware follows the weights within a panel, but not from its last tile of rows to the next panel. And where they
// come from the third cache, the first tile alone waits for them, while the others find them near. So each step of each
// tile asks for a part of the next panel, all of them for all of it: 4 to 12 % of products with weights in the third
// cache, of 4 to 44 rows, and up to 2 % of others, on Zen 4. Asked for at once, they held up what 8 rows wait for.

constexpr std::size_t kStepBytes = 128;  // of a panel, in a step

class NextPanel {
  public:
    class Reader {
      public:
        Reader(std::uintptr_t at, std::size_t bytes) noexcept : at_(at), bytes_(bytes) {}
        ETCH_INLINE void fetch() noexcept {
            _mm_prefetch(reinterpret_cast<const char*>(at_), _MM_HINT_T1);
            at_ += bytes_;
        }

      private:
        std::uintptr_t at_;  // no pointer: the last parts may lie behind the weights
        std::size_t bytes_;
    };

    // `weights` are those of the next panel, or any where there is none; `tiles` of rows fetch them. A single tile
    // waits for every line it reads, and has nothing to spare.
    NextPanel(const std::int8_t* weights, std::uint32_t tiles) noexcept
        : weights_(reinterpret_cast<std::uintptr_t>(weights)),
          bytes_(tiles > 1 ? (kStepBytes + tiles - 1) / tiles : 0) {}

    // For the steps of a tile.
    ETCH_INLINE Reader from(std::uint32_t tile, std::uint32_t steps) const noexcept {
        return {weights_ + std::size_t{tile} * steps * bytes_, bytes_};
    }

  private:
    std::uintptr_t weights_;
    std::size_t bytes_;
};

// For a single row: the two instructions of a fetch in each step cost it 5 to 13 %.
struct NoPanel {
    struct Reader {
        void fetch() noexcept {}
    };
    Reader from(std::uint32_t, std::uint32_t) const noexcept { return {}; }
};
