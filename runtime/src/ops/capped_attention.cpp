// SPDX-License-Identifier: Apache-2.0
// Attention with bounded scores. In a file of its own, as that with a bias: a program whose models have none does not
// link it, and no other attention is slower for it.
#include "added_bias.hpp"
#include "cap_row.hpp"
#include "etch/ops/attention.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

class CappedBias : public AddedBias {
  public:
    CappedBias(const ScoreBias& bias, const SoftCap& cap) noexcept : AddedBias(bias), cap_(cap) {}

    // To the scores of a whole tile, before the bias of each row.
    template <class Product>
    void add_products(const KernelSet& kernels, const Tile& tile, const Product& score, Scratch&) const noexcept {
        for (std::uint32_t row = 0; row < tile.count; ++row)
            cap_row(kernels, cap_, score.out + row * score.out_stride, score.n);
    }

  private:
    const SoftCap& cap_;
};

}  // namespace

template <class Cache>
void CappedAttention<Cache>::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    attend(attention, CappedBias(bias, cap), with, first, last);
}

template void CappedAttentionS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void CappedAttentionF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
