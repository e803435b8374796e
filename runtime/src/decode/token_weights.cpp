// SPDX-License-Identifier: Apache-2.0
#include "etch/decode/token_weights.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

bool comes_first(const TokenWeight& a, const TokenWeight& b) noexcept {
    return a.weight > b.weight || (a.weight == b.weight && a.id < b.id);
}

// `heap` [count] has what comes last at its root, but for what is at `place`, which may have to go down.
void sift_down(TokenWeight* heap, std::uint32_t count, std::uint32_t place) noexcept {
    const TokenWeight moved = heap[place];
    while (2 * place + 1 < count) {
        std::uint32_t child = 2 * place + 1;
        if (child + 1 < count && comes_first(heap[child], heap[child + 1])) ++child;
        if (!comes_first(moved, heap[child])) break;
        heap[place] = heap[child];
        place = child;
    }
    heap[place] = moved;
}

}  // namespace

std::uint32_t find_weights(const F32Rows& dense, TokenWeight* found, std::uint32_t capacity) noexcept {
    std::uint32_t count = 0;
    for (std::uint32_t entry = 0; entry < dense.width; ++entry) {
        if (!(dense.data[entry] > 0.0f)) continue;
        const TokenWeight one{static_cast<std::int32_t>(entry), dense.data[entry]};
        if (count < capacity) {
            found[count] = one;
            if (count + 1 == capacity) {
                for (std::uint32_t place = capacity / 2; place-- > 0;)
                    sift_down(found, capacity, place);
            }
        } else if (capacity > 0 && comes_first(one, found[0])) {
            found[0] = one;
            sift_down(found, capacity, 0);
        }
        ++count;
    }
    const std::uint32_t kept = count < capacity ? count : capacity;
    if (kept < capacity) {
        for (std::uint32_t place = kept / 2; place-- > 0;)
            sift_down(found, kept, place);
    }
    for (std::uint32_t left = kept; left > 1; --left) {
        const TokenWeight last = found[0];
        found[0] = found[left - 1];
        found[left - 1] = last;
        sift_down(found, left - 1, 0);
    }
    return count;
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
