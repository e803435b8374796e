// SPDX-License-Identifier: Apache-2.0
// Tests of kernels: memory of the device, batches in it, launches. On the host the CUDA runtime and the launches are
// stand-ins.
#pragma once

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "cuda/kernels/launch.hpp"
#include "support.hpp"

namespace etch::testing {

inline void must_succeed(cudaError_t error, const char* what) {
    if (error != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(error));
}

// Bytes of what was not written: NaN as a float.
inline constexpr int kUnwritten = 0xFF;

template <class T>
class DeviceArray {
  public:
    explicit DeviceArray(std::size_t count, int fill = kUnwritten) : count_(count) {
        must_succeed(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()), "cudaMalloc");
        must_succeed(cudaMemset(data_, fill, bytes()), "cudaMemset");
    }
    explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
        must_succeed(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;
    ~DeviceArray() { cudaFree(data_); }

    T* data() const { return data_; }
    std::vector<T> read() const {
        std::vector<T> values(count_);
        must_succeed(cudaMemcpy(values.data(), data_, bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return values;
    }

  private:
    std::size_t bytes() const { return count_ * sizeof(T); }

    std::size_t count_;
    T* data_ = nullptr;
};

// Rows that a grid has beyond those there are, and that nothing may write.
inline constexpr std::uint32_t kRowsBehind = 3;

// A batch of texts of `lengths` tokens, on the host as the CPU's ops want it and on the device.
struct Batch {
    explicit Batch(const std::vector<std::uint32_t>& lengths, std::uint32_t vocabulary = 1, std::uint32_t segments = 1)
        : on_host(place(lengths)),
          rows(on_host.back().first + on_host.back().count),
          text_count(static_cast<std::uint32_t>(lengths.size())),
          host_tokens(tokens_of(on_host, vocabulary, segments)),
          places(cuda::most_places(rows, text_count)),
          counts(std::vector<std::uint32_t>{rows, text_count}),
          texts(texts_of(on_host)),
          tokens(host_tokens) {}

    const std::uint32_t* row_count() const { return counts.data(); }
    const std::uint32_t* texts_counted() const { return counts.data() + 1; }
    std::uint32_t longest() const {
        std::uint32_t most = 0;
        for (const TextRows& text : on_host)
            most = text.count > most ? text.count : most;
        return most;
    }
    Texts host_texts() const { return {on_host.data(), text_count}; }

    std::vector<TextRows> on_host;
    std::uint32_t rows;
    std::uint32_t text_count;
    std::vector<cuda::RowInfo> host_tokens;
    std::uint32_t places;
    DeviceArray<std::uint32_t> counts;
    DeviceArray<cuda::TextInfo> texts;
    DeviceArray<cuda::RowInfo> tokens;

  private:
    static std::vector<TextRows> place(const std::vector<std::uint32_t>& lengths) {
        std::vector<TextRows> texts;
        std::uint32_t first = 0;
        std::uint32_t place = 0;
        for (const std::uint32_t length : lengths) {
            texts.push_back(whole_text(length, first, place));
            first += length;
            place += static_cast<std::uint32_t>(round_up(length, cuda::kTile));
        }
        return texts;
    }
    static std::vector<cuda::TextInfo> texts_of(const std::vector<TextRows>& texts) {
        std::vector<cuda::TextInfo> staged;
        for (const TextRows& text : texts)
            staged.push_back({text.first, text.count, text.place, 0});
        return staged;
    }
    static std::vector<cuda::RowInfo> tokens_of(const std::vector<TextRows>& texts, std::uint32_t vocabulary,
                                                std::uint32_t segments) {
        Random random(7);
        std::vector<cuda::RowInfo> tokens;
        for (std::uint32_t text = 0; text < texts.size(); ++text) {
            for (std::uint32_t position = 0; position < texts[text].count; ++position) {
                const auto id = static_cast<std::int32_t>(random.bits() % vocabulary);
                tokens.push_back({id, random.bits() % segments, position, text});
            }
        }
        return tokens;
    }
};

// Weights of a LayerNorm, on the host and on the device.
struct NormOnDevice {
    explicit NormOnDevice(std::uint32_t columns)
        : width(columns),
          host_gamma(Random(21).floats(columns, 0.5f, 1.0f)),
          host_beta(Random(22).floats(columns, 0.5f)),
          gamma(host_gamma),
          beta(host_beta) {}
    LayerNormWeights weights() const { return {gamma.data(), beta.data(), kEpsilon, inverse_width()}; }
    float inverse_width() const { return static_cast<float>(1.0 / width); }

    static constexpr float kEpsilon = 1e-5f;
    std::uint32_t width;
    std::vector<float> host_gamma, host_beta;
    DeviceArray<float> gamma, beta;
};

class KernelTest : public ::testing::Test {
  protected:
    void SetUp() override {
        RecordProperty("seed", static_cast<int>(kSeed));
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU";
        must_succeed(cuda::prepare(), "prepare");
    }

    // Twice, for on the host the second run has its threads in another order.
    template <class Kernel>
    static void run(const Kernel& kernel) {
        for (int i = 0; i < 2; ++i)
            must_succeed(cuda::launch(kernel, nullptr), "launch");
        must_succeed(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    }
};

// The first `count` of what was read; what is behind must be unwritten.
template <class T>
std::vector<T> written(const DeviceArray<T>& array, std::size_t count) {
    std::vector<T> values = array.read();
    const std::vector<unsigned char> unwritten(sizeof(T), kUnwritten);
    for (std::size_t i = count; i < values.size(); ++i)
        EXPECT_EQ(std::memcmp(&values[i], unwritten.data(), sizeof(T)), 0) << "element " << i << " was written";
    values.resize(count);
    return values;
}

}  // namespace etch::testing
