// SPDX-License-Identifier: Apache-2.0
// No schedule of an executor can change a bit, shown without one: every op of a forward pass is cut into random parts,
// and each part runs alone, once on the arena as it was before the op and once on the arena as all the others leave it.
// It must write the same bytes both times, none that another part writes, and all of them together what the whole op
// writes. Then a part sees nothing of the others, whenever they run. Scratch is poisoned before each part, and what
// lies behind it stays as it is. Exit code 0 where all that holds on every kernel, for single texts and batches.
//
// The generated source is compiled into this file, so that its forward pass can be given another runner: that of the
// default model, or of the one that the macros name.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "etch/ops/attention.hpp"
#include "etch/ops/delta_rule.hpp"
#include "etch/ops/disentangled_attention.hpp"
#include "etch/ops/experts.hpp"
#include "etch/ops/fourier_rows.hpp"
#include "etch/ops/global_attention.hpp"
#include "etch/ops/gru.hpp"
#include "etch/ops/linear.hpp"
#include "etch/ops/op.hpp"
#include "etch/ops/pooled_attention.hpp"
#include "etch/ops/sink_attention.hpp"
#include "etch/ops/state_space.hpp"
#include "etch/ops/word_weights.hpp"
#include "texts.hpp"

#if !defined(ETCH_MODEL_SOURCE)
#define ETCH_MODEL_SOURCE "agnews.cpp"
#define ETCH_MODEL agnews
#define ETCH_TASK(suffix) classify##suffix
#endif

namespace {

std::vector<std::uint8_t> arena_before, arena_whole, arena_merged;
std::vector<std::uint32_t> writer;  // of each byte of the arena: the part that changed it, from 1
std::uint8_t* arena;
constexpr std::size_t kBlock = 256;  // bytes of the arena that are compared at once
std::mt19937 generator(1);           // NOLINT(cert-msc51-cpp): the same parts every time
bool isolating = false;
std::uint64_t parts_seen = 0;
std::uint64_t failures = 0;

std::uint32_t random_below(std::uint32_t end) {
    return static_cast<std::uint32_t>(generator()) % end;
}

void fail(const char* what, const char* op, std::uint32_t first, std::uint32_t last, std::uint32_t units) {
    if (++failures <= 10) std::printf("%s: units [%u, %u) of %u of %s\n", what, first, last, units, op);
}

}  // namespace

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

// Ops that use scratch in every recipe, whatever their caches and weights.
template <class Op>
constexpr bool kOwnsScratch = false;
template <>
constexpr bool kOwnsScratch<PackKeysS8> = true;
template <>
constexpr bool kOwnsScratch<PackValuesS8> = true;
template <>
constexpr bool kOwnsScratch<ChooseExperts> = true;
template <>
constexpr bool kOwnsScratch<DeltaRule> = true;
template <>
constexpr bool kOwnsScratch<FourierRows> = true;
template <>
constexpr bool kOwnsScratch<DeltaStep> = true;
template <>
constexpr bool kOwnsScratch<StateSpace> = true;
template <>
constexpr bool kOwnsScratch<StateSpaceStep> = true;
template <class Cache>
constexpr bool kOwnsScratch<Attention<Cache>> = true;
template <class Cache>
constexpr bool kOwnsScratch<BiasedAttention<Cache>> = true;
template <class Cache>
constexpr bool kOwnsScratch<CappedAttention<Cache>> = true;
template <class Cache>
constexpr bool kOwnsScratch<GlobalAttention<Cache>> = true;
template <class Cache>
constexpr bool kOwnsScratch<SinkAttention<Cache>> = true;
template <class... Parts>
constexpr bool kOwnsScratch<DisentangledAttention<Parts...>> = true;
template <class... Parts>
constexpr bool kOwnsScratch<PooledAttention<Parts...>> = true;
template <class Weights>
constexpr bool kOwnsScratch<Gru<Weights>> = true;
template <class Weights>
constexpr bool kOwnsScratch<WordWeights<Weights>> = true;

// Whether an op may use its scratch, and so destroy what lies there.
template <class Op>
bool uses_scratch(const Op& op) noexcept {
    if constexpr (std::is_same_v<Op, LinearS8> || std::is_same_v<Op, ExpertLinearS8>) {
        return op.weights.factors != nullptr;
    }
    return kOwnsScratch<Op>;
}

class IsolatingRunner {
  public:
    IsolatingRunner(const OpContext& context, const Executor*, std::size_t scratch_bytes) noexcept
        : context_(context), scratch_bytes_(scratch_bytes) {}

    static Status status() noexcept { return Status::ok; }

    template <class Op>
    void operator()(const Op& op) const noexcept {
        const std::uint32_t units = op.units();
        if (isolating && uses_scratch(op)) std::memset(context_.scratch, 0xA7, scratch_bytes_);
        if (!isolating || units < 2) {
            op.run(context_, 0, units);
            return;
        }
        arena_before.assign(arena, arena + writer.size());
        op.run(context_, 0, units);
        if (uses_scratch(op)) std::memcpy(context_.scratch, &arena_before[scratch_at()], scratch_bytes_);
        arena_whole.assign(arena, arena + writer.size());
        arena_merged = arena_before;
        std::fill(writer.begin(), writer.end(), 0);

        std::vector<std::uint32_t> ends;
        const std::uint32_t parts = 2 + random_below(units < 8 ? units - 1 : 7);
        for (std::uint32_t part = 1; part < parts; ++part)
            ends.push_back(1 + random_below(units));
        ends.push_back(units);
        std::sort(ends.begin(), ends.end());
        check_before_the_others(op, ends);
        check_after_the_others(op, ends);
        std::memcpy(arena, arena_whole.data(), writer.size());
    }

  private:
    std::size_t scratch_at() const noexcept { return static_cast<std::size_t>(context_.scratch - arena); }

    // One part, with a worker's own scratch.
    template <class Op>
    void run_part(const Op& op, std::uint32_t first, std::uint32_t last) const noexcept {
        constexpr std::size_t kBehind = 4096;
        constexpr std::uint8_t kGuard = 0x5C;
        static std::vector<std::uint8_t> memory;
        memory.resize(64 + scratch_bytes_ + kBehind);
        std::uint8_t* const scratch = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
        std::memset(scratch, static_cast<int>(random_below(256)), scratch_bytes_);
        std::memset(scratch + scratch_bytes_, kGuard, kBehind);
        op.run(OpContext{context_.kernels, scratch}, first, last);
        for (std::size_t i = 0; i < kBehind; ++i) {
            if (scratch[scratch_bytes_ + i] == kGuard) continue;
            fail("writes behind its scratch", __PRETTY_FUNCTION__, first, last, op.units());
            break;
        }
        ++parts_seen;
    }

    template <class Op>
    void check_before_the_others(const Op& op, const std::vector<std::uint32_t>& ends) const noexcept {
        std::uint32_t first = 0;
        for (std::uint32_t part = 1; part <= ends.size(); first = ends[part - 1], ++part) {
            const std::uint32_t last = ends[part - 1];
            std::memcpy(arena, arena_before.data(), writer.size());
            run_part(op, first, last);
            bool shared = false;
            for (std::size_t block = 0; block < writer.size(); block += kBlock) {
                const std::size_t end = std::min(block + kBlock, writer.size());
                if (std::memcmp(arena + block, &arena_before[block], end - block) == 0) continue;  // most are
                for (std::size_t i = block; i < end; ++i) {
                    if (arena[i] == arena_before[i]) continue;
                    shared = shared || writer[i] != 0;
                    writer[i] = part;
                    arena_merged[i] = arena[i];
                }
            }
            if (shared) fail("writes what another part writes", __PRETTY_FUNCTION__, first, last, op.units());
        }
        if (arena_merged != arena_whole) {
            fail("parts do not add up", __PRETTY_FUNCTION__, 0, op.units(), op.units());
        }
    }

    template <class Op>
    void check_after_the_others(const Op& op, const std::vector<std::uint32_t>& ends) const noexcept {
        std::uint32_t first = 0;
        for (std::uint32_t part = 1; part <= ends.size(); first = ends[part - 1], ++part) {
            const std::uint32_t last = ends[part - 1];
            std::memcpy(arena, arena_whole.data(), writer.size());
            for (std::size_t block = 0; block < writer.size(); block += kBlock) {
                const std::size_t end = std::min(block + kBlock, writer.size());
                if (std::memcmp(&arena_whole[block], &arena_before[block], end - block) == 0) continue;
                for (std::size_t i = block; i < end; ++i)
                    if (writer[i] == part) arena[i] = arena_before[i];
            }
            run_part(op, first, last);
            if (std::memcmp(arena, arena_whole.data(), writer.size()) != 0) {
                fail("sees what another part writes", __PRETTY_FUNCTION__, first, last, op.units());
            }
        }
    }

    OpContext context_;
    std::size_t scratch_bytes_;
};

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch

#define SharingRunner IsolatingRunner
#include ETCH_MODEL_SOURCE  // NOLINT(bugprone-suspicious-include)

namespace {

namespace model = etch::ETCH_MODEL;

// The same call with and without the checks; both must give the same results.
bool same(model::Workspace& workspace, const std::vector<std::string_view>& texts) {
    const auto results = std::make_unique<model::Result[]>(2 * texts.size());
    std::memset(static_cast<void*>(results.get()), 0, 2 * texts.size() * sizeof results[0]);
    for (const bool checked : {false, true}) {
        isolating = checked;
        model::Result* const first = &results[checked ? texts.size() : 0];
        const etch::Status status = model::ETCH_TASK(_batch)(workspace, texts.data(), texts.size(), first);
        if (status != etch::Status::ok) return false;
    }
    return std::memcmp(&results[0], &results[texts.size()], texts.size() * sizeof results[0]) == 0;
}

}  // namespace

int main() {
    const auto workspace = std::make_unique<model::Workspace>();
    arena = workspace->arena;
    writer.resize(sizeof workspace->arena);
    const std::string_view longest = promises::kLongText.view();
    std::vector<std::vector<std::string_view>> calls = {
        {"a"}, {longest.substr(0, 60)}, {longest.substr(0, 150)}, {longest}, {}};
    for (const std::string_view text : promises::kShortTexts) {
        static model::Result result;
        const bool has_tokens = model::ETCH_TASK()(*workspace, text, result) != etch::Status::no_tokens;
        if (has_tokens) calls.back().push_back(text);
    }
    for (std::size_t kernel = 0; !model::usable_kernel(kernel).empty(); ++kernel) {
        if (model::select_kernel(*workspace, model::usable_kernel(kernel)) != etch::Status::ok) return 1;
        for (const std::vector<std::string_view>& texts : calls) {
            if (kernel > 0 && texts[0] == longest) continue;  // slow
            if (!same(*workspace, texts)) {
                std::printf("%s: other results with parts\n", std::string(model::usable_kernel(kernel)).c_str());
                ++failures;
            }
        }
    }
    if (failures == 0) std::printf("%llu parts alone: same bits\n", static_cast<unsigned long long>(parts_seen));
    return failures == 0 && parts_seen > 0 ? 0 : 1;
}
