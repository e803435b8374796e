// SPDX-License-Identifier: Apache-2.0
// The eight tile registers of AMX: up to 16 rows of up to 64 bytes each, by inline assembly, which orders them with
// what is read and written in memory (GCC 12's own functions do not). Included inside the namespace of amx_int8.

// The operand of ldtilecfg. Registers whose rows are 0 must not be used.
struct alignas(64) TileShapes {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t row_bytes[16] = {};  // of each register
    std::uint8_t rows[16] = {};
};

ETCH_INLINE void configure_tiles(const TileShapes& shapes) noexcept {
    asm volatile("ldtilecfg %0" : : "m"(shapes));
}
// Gives the registers back: the operating system has nothing to save.
ETCH_INLINE void release_tiles() noexcept {
    asm volatile("tilerelease");
}

template <unsigned kTile>
ETCH_INLINE void zero_tile() noexcept {
    asm volatile("tilezero %%tmm%c0" : : "i"(kTile));
}
// Rows `stride` bytes from each other, any alignment.
template <unsigned kTile>
ETCH_INLINE void load_tile(const void* rows, std::size_t stride) noexcept {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(rows), "r"(stride), "i"(kTile) : "memory");
}
template <unsigned kTile>
ETCH_INLINE void store_tile_to(void* rows, std::size_t stride) noexcept {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(rows), "r"(stride), "i"(kTile) : "memory");
}
// kSums[r][c] += sum over k, 4 i + j, of kRows[r][4 i + j] * kColumns[i][4 c + j], s8 by s8, in int32 that wraps.
template <unsigned kSums, unsigned kRows, unsigned kColumns>
ETCH_INLINE void multiply_tiles() noexcept {
    asm volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(kSums), "i"(kRows), "i"(kColumns));
}
