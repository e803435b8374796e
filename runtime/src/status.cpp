// SPDX-License-Identifier: Apache-2.0
#include "etch/status.hpp"

#include <cstddef>

#include "etch/etch.h"
#include "etch/executor.hpp"
#include "etch/step_cursor.hpp"
#include "etch/tokenizer.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace {

template <class Cpp>
constexpr bool same(Cpp cpp, int c) {
    return static_cast<int>(cpp) == c;
}

// The C headers hand these numbers through.
static_assert(
    same(Status::ok, ETCH_OK) && same(Status::no_tokens, ETCH_NO_TOKENS) &&
    same(Status::too_many_tokens, ETCH_TOO_MANY_TOKENS) && same(Status::token_out_of_range, ETCH_TOKEN_OUT_OF_RANGE) &&
    same(Status::segment_out_of_range, ETCH_SEGMENT_OUT_OF_RANGE) &&
    same(Status::pair_not_supported, ETCH_PAIR_NOT_SUPPORTED) && same(Status::text_too_long, ETCH_TEXT_TOO_LONG) &&
    same(Status::kernel_unknown, ETCH_KERNEL_UNKNOWN) && same(Status::kernel_not_usable, ETCH_KERNEL_NOT_USABLE) &&
    same(Status::table_mismatch, ETCH_TABLE_MISMATCH) && same(Status::golden_mismatch, ETCH_GOLDEN_MISMATCH) &&
    same(Status::in_progress, ETCH_IN_PROGRESS) && same(Status::not_begun, ETCH_NOT_BEGUN) &&
    same(Status::no_device, ETCH_NO_DEVICE) && same(Status::device_unknown, ETCH_DEVICE_UNKNOWN) &&
    same(Status::driver_too_old, ETCH_DRIVER_TOO_OLD) &&
    same(Status::device_not_supported, ETCH_DEVICE_NOT_SUPPORTED) &&
    same(Status::device_out_of_memory, ETCH_DEVICE_OUT_OF_MEMORY) && same(Status::device_failed, ETCH_DEVICE_FAILED) &&
    same(Status::device_library_failed, ETCH_DEVICE_LIBRARY_FAILED) &&
    same(Status::mode_not_supported, ETCH_MODE_NOT_SUPPORTED) &&
    same(Status::shape_not_supported, ETCH_SHAPE_NOT_SUPPORTED) &&
    same(Status::rows_out_of_range, ETCH_ROWS_OUT_OF_RANGE) && same(Status::not_open, ETCH_NOT_OPEN) &&
    same(Status::executor_failed, ETCH_EXECUTOR_FAILED) && same(Status::text_overlaps, ETCH_TEXT_OVERLAPS) &&
    same(Status::workspace_misaligned, ETCH_WORKSPACE_MISALIGNED) &&
    same(Status::workspace_in_use, ETCH_WORKSPACE_IN_USE) && same(Status::no_labels, ETCH_NO_LABELS) &&
    same(Status::hypothesis_too_long, ETCH_HYPOTHESIS_TOO_LONG) &&
    same(Status::sampling_out_of_range, ETCH_SAMPLING_OUT_OF_RANGE) &&
    same(Status::region_missing, ETCH_REGION_MISSING) && same(Status::region_misaligned, ETCH_REGION_MISALIGNED) &&
    same(Status::tables_not_copied, ETCH_TABLES_NOT_COPIED));
static_assert(same(SpecialTokens::recognized, ETCH_SPECIAL_TOKENS_RECOGNIZED) &&
              same(SpecialTokens::plain_text, ETCH_SPECIAL_TOKENS_PLAIN_TEXT) &&
              same(SpecialTokens::in_text, ETCH_SPECIAL_TOKENS_IN_TEXT));
static_assert(sizeof(TokenOffset) == sizeof(etch_token_offset));
static_assert(sizeof(Executor) == sizeof(etch_executor) &&
              offsetof(Executor, context) == offsetof(etch_executor, context) &&
              offsetof(Executor, run) == offsetof(etch_executor, run) &&
              offsetof(Executor, scratch) == offsetof(etch_executor, scratch));
static_assert(sizeof(StepCursor) == sizeof(etch_step_cursor) &&
              offsetof(StepCursor, op) == offsetof(etch_step_cursor, op) &&
              offsetof(StepCursor, unit) == offsetof(etch_step_cursor, unit) &&
              offsetof(StepCursor, truncated) == offsetof(etch_step_cursor, truncated));

}  // namespace

const char* describe(Status status) noexcept {
    switch (status) {
        case Status::ok:
            return "ok";
        case Status::no_tokens:
            return "there are no tokens";
        case Status::too_many_tokens:
            return "more token ids than the model can take";
        case Status::token_out_of_range:
            return "a token id is not in the model's vocabulary";
        case Status::segment_out_of_range:
            return "a segment is not in the model's segment table";
        case Status::pair_not_supported:
            return "the model has one segment type only and takes no pairs";
        case Status::text_too_long:
            return "the text has 2^32 - 1 bytes or more";
        case Status::kernel_unknown:
            return "no kernel of that name exists for this model's packing";
        case Status::kernel_not_usable:
            return "this CPU cannot run the kernel";
        case Status::table_mismatch:
            return "the checksum of a weight table differs from the generated one";
        case Status::golden_mismatch:
            return "a golden text gives other ids or logits than the generated ones";
        case Status::in_progress:
            return "the budget of the step is spent, the result is not there yet";
        case Status::not_begun:
            return "no call in steps has begun, or it has ended since";
        case Status::no_device:
            return "there is no NVIDIA GPU, or no driver for it";
        case Status::device_unknown:
            return "there is no GPU of that index";
        case Status::driver_too_old:
            return "the NVIDIA driver is older than the CUDA runtime of this program";
        case Status::device_not_supported:
            return "the GPU is older than compute capability 8.0";
        case Status::device_out_of_memory:
            return "not enough memory on the GPU, or not enough page-locked memory";
        case Status::device_failed:
            return "the CUDA runtime reported an error";
        case Status::device_library_failed:
            return "cuBLASLt reported an error";
        case Status::mode_not_supported:
            return "the model's recipe cannot be computed in this mode";
        case Status::shape_not_supported:
            return "the model has longer rows or texts than the kernels for GPUs can take";
        case Status::rows_out_of_range:
            return "a session for fewer rows than one text may have, or for too many";
        case Status::not_open:
            return "the weights or the session were not opened";
        case Status::executor_failed:
            return "the executor did not call the task of each worker once";
        case Status::text_overlaps:
            return "a text or token ids lie in the workspace, or where the call writes";
        case Status::workspace_misaligned:
            return "the workspace does not lie at a multiple of 64 bytes";
        case Status::workspace_in_use:
            return "the workspace is in use by another call";
        case Status::no_labels:
            return "no labels were given";
        case Status::hypothesis_too_long:
            return "the hypothesis of a label leaves no room for the text";
        case Status::sampling_out_of_range:
            return "nothing can be drawn with this temperature or top_p";
        case Status::region_missing:
            return "a region of memory is missing";
        case Status::region_misaligned:
            return "a region of memory is misaligned";
        case Status::tables_not_copied:
            return "tables of the model were not copied to their place";
    }
    return "unknown status";
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
