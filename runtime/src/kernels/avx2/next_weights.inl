// SPDX-License-Identifier: Apache-2.0
// The weights that are multiplied next, on their way into a nearer cache while others are multiplied. Included inside
// the namespace of avx2, behind steps_s8.inl.
//
// Each step of a tile asks for a part of them: asked for at once, they held up what 8 rows wait for.

constexpr std::size_t kStepBytes = 128;  // of a panel, in a step

ETCH_INLINE std::uintptr_t address(const std::int8_t* p) noexcept {
    return reinterpret_cast<std::uintptr_t>(p);
}

// Of a panel that stays in the first cache: the next one, into the second cache.
//
// The hardware follows the weights within a panel, but not from its last tile of rows to the next panel. And where they
// come from the third cache, the first tile alone waits for them, while the others find them near. All tiles together
// ask for all of the next panel: 4 to 12 % of products with weights in the third cache, of 4 to 44 rows, and up to 2 %
// of others, on Zen 4.
class NextPanel {
  public:
    class Reader {
      public:
        Reader(std::uintptr_t at, std::size_t bytes) noexcept : at_(at), bytes_(bytes) {}
        void enter(const std::int8_t*) noexcept {}
        ETCH_INLINE void fetch() noexcept {
            _mm_prefetch(reinterpret_cast<const char*>(at_), _MM_HINT_T1);
            at_ += bytes_;
        }

      private:
        std::uintptr_t at_;  // no pointer: the last parts may lie behind the weights
        std::size_t bytes_;
    };

    // `next` are the weights of the next panel, or any where there is none; `tiles` of rows fetch them. A single tile
    // waits for every line it reads, and has nothing to spare.
    NextPanel(const std::int8_t* next, std::uint32_t tiles) noexcept
        : next_(address(next)), bytes_(tiles > 1 ? (kStepBytes + tiles - 1) / tiles : 0) {}

    // For the steps of a tile.
    ETCH_INLINE Reader from(std::uint32_t tile, std::uint32_t steps) const noexcept {
        return {next_ + std::size_t{tile} * steps * bytes_, bytes_};
    }

  private:
    std::uintptr_t next_;
    std::size_t bytes_;
};

// Of a panel that does not: the 64 steps that follow, into the first cache.
//
// Each tile reads all of the panel from the second cache, and not in the order that the hardware would foresee, for
// steps are taken by how they are multiplied: 5 to 9 % of products of 1536 and 3072 inputs, on Zen 3.
class NextSteps {
  public:
    class Reader {
      public:
        explicit Reader(const std::int8_t* behind) noexcept : behind_(behind) {}
        // At the first of up to 64 steps: the weights behind them, or null where the tile ends.
        ETCH_INLINE void enter(const std::int8_t* following) noexcept {
            at_ = address(following == nullptr ? behind_ : following);
        }
        ETCH_INLINE void fetch() noexcept {
            _mm_prefetch(reinterpret_cast<const char*>(at_), _MM_HINT_T0);
            _mm_prefetch(reinterpret_cast<const char*>(at_ + kStepBytes / 2), _MM_HINT_T0);
            at_ += kStepBytes;
        }

      private:
        const std::int8_t* behind_;
        std::uintptr_t at_ = 0;
    };

    // The weights of a panel and of the next one, or any where there is none.
    NextSteps(const std::int8_t* weights, const std::int8_t* next, std::uint32_t tiles) noexcept
        : weights_(weights), next_(next), last_tile_(tiles - 1) {}

    ETCH_INLINE Reader from(std::uint32_t tile, std::uint32_t) const noexcept {
        return Reader(tile == last_tile_ ? next_ : weights_);
    }

  private:
    const std::int8_t* weights_;
    const std::int8_t* next_;
    std::uint32_t last_tile_;
};

// For a single row: the two instructions of a fetch in each step cost it 5 to 13 %.
struct NoFetch {
    struct Reader {
        void enter(const std::int8_t*) noexcept {}
        void fetch() noexcept {}
    };
    Reader from(std::uint32_t, std::uint32_t) const noexcept { return {}; }
};
