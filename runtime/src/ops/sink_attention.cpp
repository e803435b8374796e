// SPDX-License-Identifier: Apache-2.0
// Attention with a sink. Its score is the first of a panel before those of the keys, in which the others are of no key,
// so that the partials of a row's sum do not depend on which keys a tile sees. In a file of its own, as that with a
// bias: no other attention is slower for it.
#include "etch/ops/sink_attention.hpp"

#include "added_bias.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

class WithSink : public AddedBias {
  public:
    explicit WithSink(const SinkBias& bias) noexcept : AddedBias(bias.bias), sinks_(bias.sinks) {}

    void add(const HeadShape& shape, const Tile& tile, const KeyRange& range, std::uint32_t row,
             float* t) const noexcept {
        AddedBias::add(shape, tile, range, row, t);
        float* const before = t - kPanelWidth;
        before[0] = sinks_[tile.head];
        hide(before, 1, kPanelWidth);
    }

  private:
    const float* sinks_;
};

template <>
constexpr std::uint32_t kColumnsBefore<WithSink> = kPanelWidth;

}  // namespace

template <class Cache>
void SinkAttention<Cache>::run(const OpContext& with, std::uint32_t first, std::uint32_t last) const noexcept {
    attend(attention, WithSink(bias), with, first, last);
}

template void SinkAttentionS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void SinkAttentionF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
