// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/token_weights.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

bool comes_first(const TokenWeight& a, const TokenWeight& b) noexcept {
    return a.weight > b.weight || (a.weight == b.weight && a.id < b.id);
}

bool has_smaller_id(const TokenWeight& a, const TokenWeight& b) noexcept {
    return a.id < b.id;
}

// `heap` [count] has what comes last at its root, but for what is at `place`, which may have to go down.
template <bool (*kFirst)(const TokenWeight&, const TokenWeight&) noexcept>
void sift_down(TokenWeight* heap, std::uint32_t count, std::uint32_t place) noexcept {
    const TokenWeight moved = heap[place];
    while (2 * place + 1 < count) {
        std::uint32_t child = 2 * place + 1;
        if (child + 1 < count && kFirst(heap[child], heap[child + 1])) ++child;
        if (!kFirst(moved, heap[child])) break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = moved;
}

template <bool (*kFirst)(const TokenWeight&, const TokenWeight&) noexcept>
void make_heap(TokenWeight* weights, std::uint32_t count) noexcept {
    for (std::uint32_t place = count / 2; place-- > 0;)
        sift_down<kFirst>(weights, count, place);
}

// A heap, in order.
template <bool (*kFirst)(const TokenWeight&, const TokenWeight&) noexcept>
void sort_heap(TokenWeight* heap, std::uint32_t count) noexcept {
    for (std::uint32_t left = count; left > 1; --left) {
        const TokenWeight last = heap[0];
        heap[0] = heap[left - 1];
        heap[left - 1] = last;
        sift_down<kFirst>(heap, left - 1, 0);
    }
}

}  // namespace

std::uint32_t find_weights(const F32Rows& dense, TokenWeight* found, std::uint32_t capacity) noexcept {
    std::uint32_t count = 0;
    for (std::uint32_t entry = 0; entry < dense.width; ++entry) {
        if (!(dense.data[entry] > 0.0f)) continue;
        const TokenWeight one{static_cast<std::int32_t>(entry), dense.data[entry]};
        if (count < capacity) {
            found[count] = one;
            if (count + 1 == capacity) make_heap<comes_first>(found, capacity);
        } else if (capacity > 0 && comes_first(one, found[0])) {
            found[0] = one;
            sift_down<comes_first>(found, capacity, 0);
        }
        ++count;
    }
    const std::uint32_t kept = count < capacity ? count : capacity;
    if (kept < capacity) make_heap<comes_first>(found, kept);
    sort_heap<comes_first>(found, kept);
    return count;
}

void sort_by_id(TokenWeight* weights, std::uint32_t count) noexcept {
    make_heap<has_smaller_id>(weights, count);
    sort_heap<has_smaller_id>(weights, count);
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
