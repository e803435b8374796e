// SPDX-License-Identifier: Apache-2.0
#include "operands.hpp"

#include <random>

#include "etch/kernels.hpp"

namespace etch::bench {

Aligned<float> random_floats(std::size_t count) {
    std::mt19937 random(1);
    Aligned<float> values(count);
    for (float& value : values)
        value = static_cast<float>(random() % 6001) / 1000.0f - 3.0f;
    return values;
}

Aligned<std::int8_t> random_bytes(std::size_t count) {
    std::mt19937 random(2);
    Aligned<std::int8_t> values(count);
    for (std::int8_t& value : values)
        value = static_cast<std::int8_t>(static_cast<int>(random() % 255) - 127);
    return values;
}

Quantized::Quantized(const KernelSet& set, std::uint32_t rows, std::uint32_t width)
    : stride_(encoded_row_bytes(set.packing, width)), bytes_(rows * stride_), scales_(rows) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> values(std::size_t{rows} * width);
    for (float& value : values)
        value = normal(random);
    for (std::uint32_t r = 0; r < rows; ++r)
        scales_[r] = set.quantize_row(values.data() + std::size_t{r} * width, width, this->rows().data + r * stride_);
}

QuantizedRows Quantized::rows() {
    return {bytes_.data(), scales_.data(), stride_};
}

std::vector<const KernelSet*> usable_sets(const std::string& name) {
    std::vector<const KernelSet*> sets;
    for (std::size_t i = 0; !usable_kernel_name(kPanelKernels, i).empty(); ++i) {
        const std::string_view usable = usable_kernel_name(kPanelKernels, i);
        const KernelSet* set = nullptr;
        if ((name.empty() || usable == name) && find_kernels(kPanelKernels, usable, set) == Status::ok)
            sets.push_back(set);
    }
    return sets;
}

}  // namespace etch::bench
