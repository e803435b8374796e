// SPDX-License-Identifier: Apache-2.0
// The algorithms of a session, asked for once. A table of open addresses in memory of the session's own.
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>

#include "matmul.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

class Algorithms {
  public:
    struct Entry {
        std::uint32_t rows;  // 0: free
        std::uint32_t outputs;
        std::uint32_t inputs;
        Matmul::Kind kind;
        cublasLtMatmulAlgo_t algorithm;
    };

    // Places for at most `products`: twice as many, or the search for one that is new would be long.
    static constexpr std::uint32_t places(std::uint32_t products) noexcept {
        std::uint32_t places = 1;
        while (places < 2 * products)
            places *= 2;
        return places;
    }

    // `entries` [places], which must be a power of two and more than the algorithms that will be added.
    void begin(Entry* entries, std::uint32_t places) noexcept {
        entries_ = entries;
        mask_ = places - 1;
        for (std::uint32_t i = 0; i < places; ++i)
            entries_[i].rows = 0;
    }

    // The entry of this product's shape, or the free one where it belongs.
    Entry& entry_of(const Matmul& m) const noexcept {
        std::uint32_t at = (m.rows / 32 * 2654435761u) ^ (m.outputs * 40503u) ^ (m.inputs * 2246822519u) ^
                           static_cast<std::uint32_t>(m.kind);
        for (;; ++at) {
            Entry& entry = entries_[at & mask_];
            if (entry.rows == 0 || (entry.rows == m.rows && entry.outputs == m.outputs && entry.inputs == m.inputs &&
                                    entry.kind == m.kind)) {
                return entry;
            }
        }
    }

  private:
    Entry* entries_;
    std::uint32_t mask_;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
