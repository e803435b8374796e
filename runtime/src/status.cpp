// SPDX-License-Identifier: Apache-2.0
#include "etch/status.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {

const char* describe(Status status) noexcept {
    switch (status) {
        case Status::ok:
            return "ok";
        case Status::no_tokens:
            return "no token ids were given";
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
    }
    return "unknown status";
}

}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
