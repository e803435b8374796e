// SPDX-License-Identifier: Apache-2.0
// Mixtures of experts: feed-forward blocks of which each row goes through a few, those that its scores choose. Rows are
// sorted by expert, so that each expert multiplies its own rows together, and no others: a block of rows has one chosen
// row for each row and each of its experts. What is made of them is summed by row again.
#pragma once

#include <cstddef>
#include <cstdint>

#include "etch/ops/activation.hpp"
#include "etch/ops/linear.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/rows.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Which chosen rows there are: those of an expert side by side, experts ascending, within one rows ascending.
struct Routes {
    std::uint32_t* first;   // [experts + 1]: an expert's chosen rows are those from first[expert] to first[expert + 1]
    std::uint32_t* rows;    // [chosen]: the row that each is made of
    std::uint32_t* places;  // [rows][top]: of each row its chosen rows, experts ascending
    float* weights;         // [rows][top]: what these count
};

// Bytes for so many chosen rows.
constexpr std::size_t routes_bytes(std::uint32_t experts, std::size_t chosen) noexcept {
    return sizeof(std::uint32_t) * (experts + 1 + 2 * chosen) + sizeof(float) * chosen;
}

// Of memory of routes_bytes(), aligned for its elements.
inline Routes routes_at(std::uint8_t* bytes, std::uint32_t experts, std::size_t chosen) noexcept {
    std::uint32_t* const first = reinterpret_cast<std::uint32_t*>(bytes);
    std::uint32_t* const rows = first + experts + 1;
    std::uint32_t* const places = rows + chosen;
    return {first, rows, places, reinterpret_cast<float*>(places + chosen)};
}

// What an expert counts: its value in the softmax over the scores of all, or over those of the chosen ones; or the
// sigmoid of its score.
enum class ExpertWeighing : std::uint8_t { all, chosen, each };

// By which experts are chosen where their weights alone do not: float [experts], aligned for them, or null.
struct ExpertBias {
    const float* values;
};

// What weights of chosen experts are divided by: their sum, experts ascending, and `added`, at least `least`. Of zeros,
// by nothing.
struct ExpertShares {
    float added;  // both at least 0, one of them at least 2^-100 or both 0
    float least;
};

// Bytes of a worker's scratch.
constexpr std::size_t choose_experts_scratch_bytes(std::uint32_t experts) noexcept {
    return aligned_bytes(std::size_t{experts} * sizeof(float));
}

// Of each row the `top` experts with the largest scores, of equal ones the lower first, and their weights, as those of
// Softmax or Sigmoid. With a bias those whose weights among all have the largest sums with it, which counts in nothing
// else; `weighing` is then not `chosen`. One unit.
struct ChooseExperts {
    std::uint32_t count;  // rows
    std::uint32_t top;    // at most as many as there are experts
    ExpertWeighing weighing;
    F32Rows scores;  // [count][experts]
    Routes out;
    ExpertBias bias = {};
    ExpertShares shares = {};

    std::uint32_t units() const noexcept { return 1; }
    std::uint64_t cost() const noexcept { return kCostOfValue * count * scores.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

// The outputs of an expert's linear, rounded up: those of the next begin at a panel.
constexpr std::uint32_t expert_outputs(std::uint32_t outputs) noexcept {
    return static_cast<std::uint32_t>(round_up(outputs, kPanelWidth));
}

// A linear of each expert, on its chosen rows. The weights of all lie one below the other, expert_outputs(out.width)
// outputs each, of the last one as many as there are, at least. Units: panels of kPanelWidth outputs, of all experts.
template <class Weights>
struct ExpertLinear {
    const Weights& weights;  // [experts * expert_outputs(out.width)][inputs]
    const Routes& routes;
    std::uint32_t count;            // chosen rows
    typename Weights::Input input;  // [count][inputs]
    F32Rows out;                    // [count][outputs]
    Activation activation = Activation::none;

    std::uint32_t units() const noexcept { return expert_outputs(out.width) / kPanelWidth; }
    std::uint64_t cost() const noexcept { return Weights::kCostOfElement * count * weights.inputs * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

using ExpertLinearS8 = ExpertLinear<S8Weights>;
using ExpertLinearF32 = ExpertLinear<F32Weights>;

// out = the sum over a row's experts, ascending, of weight * what the expert made of it, from +0.0f. Units: rows.
struct MixExperts {
    std::uint32_t count;
    std::uint32_t top;
    const Routes& routes;
    F32Rows input;  // [chosen][width]
    F32Rows out;    // [count][width]

    std::uint32_t units() const noexcept { return count; }
    std::uint64_t cost() const noexcept { return kCostOfProduct * count * top * out.width; }
    void run(const OpContext& context, std::uint32_t first, std::uint32_t last) const noexcept;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
