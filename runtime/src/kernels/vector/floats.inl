// SPDX-License-Identifier: Apache-2.0
// Vectors of more lanes than a register has. Included inside the namespace of each kernel set, so that nothing here is
// shared by the linker, behind the set's operations on one Register: kRegisterLanes, all, load, store, add, sub, mul,
// max, min, absolute, with_sign_of, select_if_less, scale_or_clear, tree_sum, largest_of, keep_order.

template <class Half>
struct Pair {
    Half low;
    Half high;
};

template <class Vector>
constexpr std::uint32_t kLanesOf = 2 * kLanesOf<decltype(Vector::low)>;
template <>
constexpr std::uint32_t kLanesOf<Register> = kRegisterLanes;

// Every lane is x.
template <class Vector>
ETCH_INLINE Vector all(float x) noexcept {
    if constexpr (kLanesOf<Vector> == kRegisterLanes) {
        return all(x);
    } else {
        return {all<decltype(Vector::low)>(x), all<decltype(Vector::high)>(x)};
    }
}
template <class Vector>
ETCH_INLINE Vector load(const float* p) noexcept {
    if constexpr (kLanesOf<Vector> == kRegisterLanes) {
        return load(p);
    } else {
        using Half = decltype(Vector::low);
        return {load<Half>(p), load<Half>(p + kLanesOf<Half>)};
    }
}
template <class Half>
ETCH_INLINE void store(float* p, Pair<Half> x) noexcept {
    store(p, x.low);
    store(p + kLanesOf<Half>, x.high);
}
template <class Half>
ETCH_INLINE Pair<Half> add(Pair<Half> x, Pair<Half> y) noexcept {
    return {add(x.low, y.low), add(x.high, y.high)};
}
template <class Half>
ETCH_INLINE Pair<Half> sub(Pair<Half> x, Pair<Half> y) noexcept {
    return {sub(x.low, y.low), sub(x.high, y.high)};
}
template <class Half>
ETCH_INLINE Pair<Half> mul(Pair<Half> x, Pair<Half> y) noexcept {
    return {mul(x.low, y.low), mul(x.high, y.high)};
}
// x > y ? x : y and x < y ? x : y.
template <class Half>
ETCH_INLINE Pair<Half> max(Pair<Half> x, Pair<Half> y) noexcept {
    return {max(x.low, y.low), max(x.high, y.high)};
}
template <class Half>
ETCH_INLINE Pair<Half> min(Pair<Half> x, Pair<Half> y) noexcept {
    return {min(x.low, y.low), min(x.high, y.high)};
}
template <class Half>
ETCH_INLINE Pair<Half> absolute(Pair<Half> x) noexcept {
    return {absolute(x.low), absolute(x.high)};
}
// magnitude >= 0.
template <class Half>
ETCH_INLINE Pair<Half> with_sign_of(Pair<Half> magnitude, Pair<Half> x) noexcept {
    return {with_sign_of(magnitude.low, x.low), with_sign_of(magnitude.high, x.high)};
}
// x < y ? less : otherwise.
template <class Half>
ETCH_INLINE Pair<Half> select_if_less(Pair<Half> x, Pair<Half> y, Pair<Half> less, Pair<Half> otherwise) noexcept {
    return {select_if_less(x.low, y.low, less.low, otherwise.low),
            select_if_less(x.high, y.high, less.high, otherwise.high)};
}
// x < least ? +0.0f : p * 2^n, where n is in the low bits of `shifted`.
template <class Half>
ETCH_INLINE Pair<Half> scale_or_clear(Pair<Half> p, Pair<Half> shifted, Pair<Half> x, Pair<Half> least) noexcept {
    return {scale_or_clear(p.low, shifted.low, x.low, least.low),
            scale_or_clear(p.high, shifted.high, x.high, least.high)};
}

// The contract's sum along a row, from its 16 partials: a tree +8, +4, +2, +1.
template <class Half>
ETCH_INLINE float tree_sum(Pair<Half> partials) noexcept {
    return tree_sum(add(partials.low, partials.high));
}
template <class Half>
ETCH_INLINE float largest_of(Pair<Half> x) noexcept {
    return largest_of(max(x.low, x.high));
}

// Keeps the operations on the halves of a vector side by side: GCC otherwise sorts those of one half, which wait for
// each other, before those of the next.
template <class Half>
ETCH_INLINE void keep_order(Pair<Half>& x) noexcept {
    keep_order(x.low);
    keep_order(x.high);
}
