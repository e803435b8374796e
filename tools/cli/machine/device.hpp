// SPDX-License-Identifier: Apache-2.0
// --device cuda: a GPU that answers in the CPU's place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../model.hpp"

namespace etch::cli {

struct Options;

// Bytes, of the GPU's memory but for the last.
struct DeviceMemory {
    std::size_t weights;
    std::size_t session;
    std::size_t workspace;  // of the session's, for cuBLASLt
    std::size_t context;    // measured: what CUDA and cuBLASLt took for themselves
    std::size_t graphs;     // measured
    std::uint32_t graph_count;
    std::size_t page_locked;  // of this machine's memory
};

// The model on a GPU, once it is open. Answers are as in model.hpp.
struct Device {
    // `fast`: bf16, otherwise the CPU's bits. A call takes `rows` tokens.
    Status (*open)(std::uint32_t index, bool fast, std::uint32_t rows, SpecialTokens special_tokens);
    Status (*answer_text)(const Text& text, Answer& answer);
    Status (*answer_batch)(const std::vector<std::string_view>& texts, std::vector<Answer>& answers);
    Status (*answer_tokens)(const std::int32_t* ids, std::uint32_t count, Answer& answer);
    std::string (*name)();  // of the GPU
    DeviceMemory (*memory)();
};

extern const Device kCudaDevice;  // cuda/cuda_model.cpp

// Opens the GPU that the command line names. Ends the program where that is not possible: nothing falls back.
void use_device(const Options& options);

// Name and mode of the GPU that answers; empty where it is the CPU.
std::string device_in_use();

// What it holds there; nothing where the CPU answers.
std::optional<DeviceMemory> device_memory();

}  // namespace etch::cli
