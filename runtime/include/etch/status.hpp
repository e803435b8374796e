// SPDX-License-Identifier: Apache-2.0
// What a call can report. The runtime has no exceptions and prints nothing.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

enum class Status : std::uint8_t {
    ok = 0,
    no_tokens,             // token ids: count is 0; a text of which the tokenizer makes none
    too_many_tokens,       // token ids: count is above kMaxTokens
    token_out_of_range,    // token ids: an id is negative or not in the vocabulary
    segment_out_of_range,  // token ids: a segment is not in the model's segment table
    pair_not_supported,    // the model has one segment type only
    text_too_long,         // a text of 2^32 - 1 bytes or more: offsets are 32-bit; more than 2^32 - 1 choices
    kernel_unknown,        // no kernel of that name exists for this model's packing
    kernel_not_usable,     // the kernel exists, this CPU cannot run it
    table_mismatch,        // self test: the CRC of a weight table differs from the generated one
    golden_mismatch,       // self test: ids or logits of a golden text differ from the generated ones
    in_progress,           // step: the budget is spent, the result is not there yet
    not_begun,             // step: begin() was not called or refused, or what it began has ended since
    // Of GPUs only:
    no_device,              // no NVIDIA GPU, or no driver for it
    device_unknown,         // no GPU of that index
    driver_too_old,         // the driver is older than the CUDA runtime that the program was built with
    device_not_supported,   // the GPU is older than compute capability 8.0
    device_out_of_memory,   // not enough memory on the GPU, or not enough page-locked memory
    device_failed,          // the CUDA runtime reported an error
    device_library_failed,  // cuBLASLt reported an error
    mode_not_supported,     // the model's recipe has no such mode
    shape_not_supported,    // the model has longer rows or texts than the kernels for GPUs can take
    rows_out_of_range,      // a session for fewer rows than one text may have, or for too many
    not_open,               // the weights or the session were not opened
    // Of what the caller brings:
    executor_failed,       // the executor did not call the task of each worker once
    text_overlaps,         // a text or token ids lie in the workspace, or where the call writes
    workspace_misaligned,  // C only: the workspace does not lie at a multiple of 64 bytes
    workspace_in_use,      // another thread, or the code that this interrupt interrupted, is inside a call
    // Of labels that are given at run time:
    no_labels,            // there is none
    hypothesis_too_long,  // a label's hypothesis leaves no room for the text, which alone is cut

    // Of a generative model:
    sampling_out_of_range,  // the temperature or top_p is none that can be drawn with

    // Of a model with regions:
    region_missing,     // the workspace was not given one of them
    region_misaligned,  // one does not lie at a multiple of 64 bytes
    tables_not_copied,  // of a model with such tables: its copy_tables() was not called
};

// A short English text for `status`, static storage, never null.
const char* describe(Status status) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
