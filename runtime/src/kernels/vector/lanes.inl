// SPDX-License-Identifier: Apache-2.0
// Walking a row: vectors of which all lanes are in the row, then the first lanes of one more. Included inside the
// namespace of each kernel set, behind the set's Floats (16 lanes: a panel's width and a row sum's partials),
// FirstLanes and Wide, the vector in which long chains of operations keep the CPU busy.

// A vector of which every lane is in the row.
template <class Vector>
struct AllLanes {
    Vector read(const float* p) const noexcept { return load<Vector>(p); }
    Vector read_or(const float* p, Vector) const noexcept { return load<Vector>(p); }
    void write(float* p, Vector x) const noexcept { store(p, x); }
    Vector keep(Vector x) const noexcept { return x; }
};

// Walks a row of n floats 16 at a time: body(i, lanes).
template <class Body>
ETCH_INLINE void for_each_16(std::uint32_t n, Body body) noexcept {
    std::uint32_t i = 0;
    for (; n - i >= 16; i += 16)
        body(i, AllLanes<Floats>{});
    if (i < n) body(i, FirstLanes(n - i));
}
