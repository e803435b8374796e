// SPDX-License-Identifier: Apache-2.0
// Results: lines on standard output, and the same as one JSON object a line.
#pragma once

#include <cstdio>
#include <string>

#include "passes.hpp"

namespace etch::bench {

class GpuTable {
  public:
    // Opens `json` for writing unless it is empty; stops the program where that fails.
    explicit GpuTable(const std::string& json);
    ~GpuTable();
    GpuTable(const GpuTable&) = delete;
    GpuTable& operator=(const GpuTable&) = delete;

    void pass(const char* mode, const Shape& shape, const PassTimes& times);
    void op(const char* mode, const Shape& shape, const OpTime& time);

  private:
    std::FILE* json_ = nullptr;
};

}  // namespace etch::bench
