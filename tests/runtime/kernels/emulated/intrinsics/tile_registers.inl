// SPDX-License-Identifier: Apache-2.0
// Stands in for amx_int8/tile_registers.inl where the CPU has no AMX: the same functions, by what Intel's manual says
// of each instruction. Included inside the namespace of amx_int8.

struct alignas(64) TileShapes {
    std::uint8_t palette = 1;
    std::uint8_t start_row = 0;
    std::uint8_t reserved[14] = {};
    std::uint16_t row_bytes[16] = {};
    std::uint8_t rows[16] = {};
};

struct TileRegisters {
    TileShapes shapes;
    std::uint8_t bytes[8][16][64];
};
thread_local TileRegisters tiles;

inline void configure_tiles(const TileShapes& shapes) noexcept {
    tiles = {shapes, {}};
}
inline void release_tiles() noexcept {
    tiles = {};
}
template <unsigned kTile>
void zero_tile() noexcept {
    std::memset(tiles.bytes[kTile], 0, sizeof tiles.bytes[kTile]);
}
// Rows and bytes of a row beyond the shape become zeros.
template <unsigned kTile>
void load_tile(const void* rows, std::size_t stride) noexcept {
    zero_tile<kTile>();
    for (unsigned r = 0; r < tiles.shapes.rows[kTile]; ++r)
        std::memcpy(tiles.bytes[kTile][r], static_cast<const char*>(rows) + r * stride, tiles.shapes.row_bytes[kTile]);
}
template <unsigned kTile>
void store_tile_to(void* rows, std::size_t stride) noexcept {
    for (unsigned r = 0; r < tiles.shapes.rows[kTile]; ++r)
        std::memcpy(static_cast<char*>(rows) + r * stride, tiles.bytes[kTile][r], tiles.shapes.row_bytes[kTile]);
}
template <unsigned kSums, unsigned kRows, unsigned kColumns>
void multiply_tiles() noexcept {
    const TileShapes& shapes = tiles.shapes;
    // What the instruction refuses.
    if (shapes.rows[kSums] != shapes.rows[kRows] || shapes.row_bytes[kRows] != 4 * shapes.rows[kColumns] ||
        shapes.row_bytes[kSums] != shapes.row_bytes[kColumns]) {
        __builtin_trap();
    }
    for (unsigned r = 0; r < shapes.rows[kSums]; ++r) {
        std::uint32_t sums[16];
        std::memcpy(sums, tiles.bytes[kSums][r], sizeof sums);
        for (unsigned c = 0; c < shapes.row_bytes[kSums] / 4u; ++c) {
            for (unsigned k = 0; k < shapes.row_bytes[kRows]; ++k) {
                const int a = static_cast<std::int8_t>(tiles.bytes[kRows][r][k]);
                const int w = static_cast<std::int8_t>(tiles.bytes[kColumns][k / 4][4 * c + k % 4]);
                sums[c] += static_cast<std::uint32_t>(a * w);
            }
        }
        std::memcpy(tiles.bytes[kSums][r], sums, sizeof sums);
    }
}
