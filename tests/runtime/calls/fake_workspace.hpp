// SPDX-License-Identifier: Apache-2.0
// What the calls know of a workspace, without a model: two regions beside it that are there, nothing to copy.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "etch/decode/sampling.hpp"
#include "etch/kernels.hpp"
#include "etch/tables.hpp"
#include "etch/tokenizer.hpp"

namespace etch::testing {

struct FakeRegions {
    static constexpr std::size_t kBytes[] = {16, 32};

    std::uint8_t* places[2];

    static constexpr Status check() noexcept { return Status::ok; }
    std::uint8_t* operator[](std::size_t i) const noexcept { return places[i]; }
};

struct FakeWorkspace {
    using Tables = TablesInPlace;
    static constexpr std::size_t kRegions = 2;

    FakeRegions regions{};
    std::atomic<std::uintptr_t> in_use{0};
    SpecialTokens special_tokens = SpecialTokens::plain_text;
    std::uint8_t beams = 3;
    std::uint32_t max_target = 7;
    const Sampling* sampling = nullptr;
    const KernelSet* kernels = nullptr;
};

// While one is there, another call has the workspace.
class InUse {
  public:
    explicit InUse(FakeWorkspace& workspace) noexcept : workspace_(workspace) { workspace.in_use = 1; }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;
    ~InUse() { workspace_.in_use = 0; }

  private:
    FakeWorkspace& workspace_;
};

}  // namespace etch::testing
