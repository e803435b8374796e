// SPDX-License-Identifier: Apache-2.0
// What a call can report. The runtime has no exceptions and prints nothing.
#pragma once

#include <cstdint>

#include "etch/version.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

enum class Status : std::uint8_t {
    ok = 0,
    no_tokens,             // token ids: count is 0
    too_many_tokens,       // token ids: count is above kMaxTokens
    token_out_of_range,    // token ids: an id is negative or not in the vocabulary
    segment_out_of_range,  // token ids: a segment is not in the model's segment table
    pair_not_supported,    // the model has one segment type only
    text_too_long,         // a text of 2^32 - 1 bytes or more: offsets are 32-bit
    kernel_unknown,        // no kernel of that name exists for this model's packing
    kernel_not_usable,     // the kernel exists, this CPU cannot run it
    table_mismatch,        // self test: the CRC of a weight table differs from the generated one
    golden_mismatch,       // self test: ids or logits of a golden text differ from the generated ones
    in_progress,           // step: the budget is spent, the result is not there yet
    not_begun,             // step: begin() was not called or refused, or what it began has ended since
};

// A short English text for `status`, static storage, never null.
const char* describe(Status status) noexcept;

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
