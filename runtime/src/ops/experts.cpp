// SPDX-License-Identifier: Apache-2.0
#include "etch/ops/experts.hpp"

#include <cstring>

#include "../kernels/kernel_set.hpp"
#include "etch/ops/row_ops.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

constexpr std::uint32_t kColumns = 16;  // of a row that are summed together

// What experts are chosen by, each with its bias where there is one.
struct Rank {
    float operator[](std::uint32_t expert) const noexcept {
        return bias == nullptr ? values[expert] : values[expert] + bias[expert];
    }

    const float* values;
    const float* bias;
};

// The expert with the largest of the ranks that come behind that of `before`: smaller ones, and equal ones of higher
// experts. All come behind that of no expert, which is null.
std::uint32_t next_of(const Rank& ranks, std::uint32_t experts, const std::uint32_t* before) noexcept {
    std::uint32_t best = experts;
    for (std::uint32_t expert = 0; expert < experts; ++expert) {
        const float rank = ranks[expert];
        const bool is_behind =
            before == nullptr || rank < ranks[*before] || (rank == ranks[*before] && expert > *before);
        if (is_behind && (best == experts || rank > ranks[best])) best = expert;
    }
    return best == experts ? 0 : best;
}

// The best `top` experts, ascending.
void choose(const Rank& ranks, std::uint32_t experts, std::uint32_t top, std::uint32_t* chosen) noexcept {
    std::uint32_t latest = 0;
    for (std::uint32_t i = 0; i < top; ++i) {
        latest = next_of(ranks, experts, i == 0 ? nullptr : &latest);
        std::uint32_t at = i;
        for (; at > 0 && chosen[at - 1] > latest; --at)
            chosen[at] = chosen[at - 1];
        chosen[at] = latest;
    }
}

// Divides the weights of a row's experts.
void share(const ExpertShares& by, float* weights, std::uint32_t top) noexcept {
    float sum = 0.0f;
    for (std::uint32_t i = 0; i < top; ++i)
        sum = sum + weights[i];
    sum = sum + by.added;
    const float factor = 1.0f / (sum > by.least ? sum : by.least);
    for (std::uint32_t i = 0; i < top; ++i)
        weights[i] = weights[i] * factor;
}

}  // namespace

void ChooseExperts::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    if (first == last) return;
    const std::uint32_t experts = scores.width;
    const bool by_weight = bias.values != nullptr;
    float* const all = reinterpret_cast<float*>(context.scratch);
    for (std::uint32_t expert = 0; expert <= experts; ++expert)
        out.first[expert] = 0;
    for (std::uint32_t row = 0; row < count; ++row) {
        const F32Rows of_row = scores.from(row);
        std::uint32_t* const chosen = out.places + std::size_t{row} * top;
        float* const weights = out.weights + std::size_t{row} * top;
        if (!by_weight) choose({of_row.data, nullptr}, experts, top, chosen);
        if (weighing == ExpertWeighing::all) Softmax{1, of_row, {all, experts}}.run(context, 0, 1);
        if (by_weight && weighing == ExpertWeighing::each) {
            std::memcpy(all, of_row.data, experts * sizeof(float));
            context.kernels.activate_row(Activation::sigmoid, all, experts);
        }
        if (by_weight) choose({all, bias.values}, experts, top, chosen);
        for (std::uint32_t i = 0; i < top; ++i) {
            weights[i] = by_weight || weighing == ExpertWeighing::all ? all[chosen[i]] : of_row.data[chosen[i]];
            ++out.first[chosen[i] + 1];
        }
        if (weighing == ExpertWeighing::chosen) Softmax{1, {weights, top}, {weights, top}}.run(context, 0, 1);
        if (!by_weight && weighing == ExpertWeighing::each)
            context.kernels.activate_row(Activation::sigmoid, weights, top);
        if (shares.added > 0.0f || shares.least > 0.0f) share(shares, weights, top);
    }
    for (std::uint32_t expert = 0; expert < experts; ++expert)
        out.first[expert + 1] += out.first[expert];
    for (std::uint32_t i = 0; i < count * top; ++i) {  // first[expert] is where its next row goes
        std::uint32_t& next = out.first[out.places[i]];
        out.rows[next] = i / top;
        out.places[i] = next++;
    }
    for (std::uint32_t expert = experts; expert > 0; --expert)  // and now where the next expert's rows begin
        out.first[expert] = out.first[expert - 1];
    out.first[0] = 0;
}

// Each expert's part, on its rows.
template <class Weights>
void ExpertLinear<Weights>::run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept {
    const std::uint32_t outputs = expert_outputs(out.width);
    const std::uint32_t experts = (weights.outputs + outputs - 1) / outputs;  // the last one's may fill no panel
    for (std::uint32_t expert = 0; expert < experts; ++expert) {
        const std::uint32_t row = routes.first[expert];
        const std::uint32_t rows = routes.first[expert + 1] - row;
        if (rows == 0) continue;
        const Weights part = outputs_of(weights, context.kernels.packing, expert * outputs, out.width);
        const typename Weights::Linear linear{part, rows, input.from(row), out.from(row), activation};
        linear.run(context, first, last);
    }
}

template void ExpertLinearS8::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;
template void ExpertLinearF32::run(const OpContext&, std::uint32_t, std::uint32_t) const noexcept;

void MixExperts::run(const OpContext&, std::uint32_t first, std::uint32_t last) const noexcept {
    for (std::uint32_t row = first; row < last; ++row) {
        const std::uint32_t* const places = routes.places + std::size_t{row} * top;
        const float* const weights = routes.weights + std::size_t{row} * top;
        float* const to = out.from(row).data;
        for (std::uint32_t begin = 0; begin < out.width; begin += kColumns) {
            const std::uint32_t columns = out.width - begin < kColumns ? out.width - begin : kColumns;
            float sums[kColumns] = {};
            for (std::uint32_t i = 0; i < top; ++i) {
                const float* const x = input.from(places[i]).data + begin;
                for (std::uint32_t column = 0; column < columns; ++column)
                    sums[column] = sums[column] + (weights[i] * x[column]);
            }
            for (std::uint32_t column = 0; column < columns; ++column)
                to[begin + column] = sums[column];
        }
    }
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
