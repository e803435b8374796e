// SPDX-License-Identifier: Apache-2.0
#include "pipeline.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace tokenizer {

void write_template(const TemplatePart* parts, std::uint32_t count, std::uint32_t first, std::uint32_t second,
                    const TokenSink& sink) noexcept {
    std::uint32_t at = 0;
    for (const TemplatePart* part = parts; part != parts + count; ++part) {
        std::uint32_t end = at + 1;
        if (part->id == TemplatePart::kFirst) {
            end = at + first;
        } else if (part->id == TemplatePart::kSecond) {
            end = at + second;
        } else {
            sink.ids[at] = part->id;
            if (sink.offsets != nullptr) sink.offsets[at] = {0, 0};
        }
        while (at < end)
            sink.segments[at++] = part->segment;
    }
}

std::uint32_t write_padding(const Template& parts, std::uint32_t count, const TokenSink& sink) noexcept {
    for (; count < parts.padded; ++count) {
        sink.ids[count] = parts.padding;
        sink.segments[count] = 0;
        if (sink.offsets != nullptr) sink.offsets[count] = {0, 0};
    }
    return count;
}

}  // namespace tokenizer
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
