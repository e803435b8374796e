// SPDX-License-Identifier: Apache-2.0
// The one generated model that a benchmark was built for; model.cpp is the only file that sees it.
#pragma once

#include <cstdint>
#include <string_view>

#include "cuda/session_state.hpp"
#include "etch/cuda/mode.hpp"
#include "etch/status.hpp"

namespace etch::bench {

// Is asked before each op of a pass.
class Watch {
  public:
    virtual ~Watch() = default;
    // Whether the op runs; `product`: by cuBLASLt.
    virtual bool before(std::string_view op, bool product) = 0;
};

struct GpuModel {
    std::string_view name;
    std::string_view recipe;
    bool exact;  // whether that mode is there
    std::uint32_t max_tokens;
    std::uint32_t vocabulary;  // ids of a text are below

    Status (*open)(cuda::Mode mode, std::uint32_t rows);
    cuda::SessionState& (*state)();
    // A whole call.
    Status (*run)(const std::int32_t* ids, std::uint32_t count);
    // The ops of a pass, watched, into the stream.
    Status (*forward)(const cuda::Pass& pass, Watch& watch);
};

extern const GpuModel kModel;

}  // namespace etch::bench
