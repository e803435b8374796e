// SPDX-License-Identifier: Apache-2.0
// The calls of a generated model on a GPU, all but what differs from model to model. NAME_cuda.cpp defines a Head:
//     struct Result               has members tokens and truncated, which the calls fill in
//     struct Outputs              of one text, made of F32Rows [1, ModelPlan::outputs] in page-locked memory
//     finish(run, a, result)      Outputs -> the other members of the result, on the CPU; a template over the runner
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/cuda/model.hpp"
#include "etch/ops/op.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Outputs of one text of the last pass -> its result.
template <class Head>
void finish(const DeviceSession& session, std::uint32_t text, typename Head::Result& result) noexcept {
    const TextOutput out = output(session, text);
    const InlineRunner run(OpContext{*session.kernels, nullptr});
    Head::finish(run, typename Head::Outputs{out.values}, result);
    result.tokens = out.tokens;
    result.truncated = out.truncated;
}

// What compute(), compute_pair() or compute_tokens() left, where they were ok.
template <class Head>
Status answer(const DeviceSession& session, Status computed, typename Head::Result& result) noexcept {
    if (computed == Status::ok) finish<Head>(session, 0, result);
    return computed;
}

// In passes of as many texts as the session has room for.
template <class Head>
Status answer_batch(DeviceSession& session, const std::string_view* texts, std::size_t count,
                    typename Head::Result* results) noexcept {
    for (std::size_t done = 0; done < count;) {
        std::uint32_t computed = 0;
        const Status status = compute_batch(session, texts + done, count - done, computed);
        if (status != Status::ok) return status;
        for (std::uint32_t text = 0; text < computed; ++text)
            finish<Head>(session, text, results[done + text]);
        done += computed;
    }
    return Status::ok;
}

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
