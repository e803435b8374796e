// SPDX-License-Identifier: Apache-2.0
// Token ids from a caller: refused by name, or the same bits from every kernel set. An input is one byte for how the
// rest is read, and three bytes for each token: segment and id.
#include <cmath>
#include <vector>

#include "agnews.hpp"
#include "agnews_weights.hpp"
#include "fuzz.hpp"

namespace {

namespace model = etch::agnews;
using etch::Status;
using etch::fuzz::check;

constexpr auto kVocabulary = static_cast<std::int32_t>(model::kVocabulary);

model::Workspace workspace;

Status expected(const std::vector<std::int32_t>& ids, const std::vector<std::uint8_t>& segments, bool with_segments) {
    if (ids.empty()) {
        return Status::no_tokens;
    }
    if (ids.size() > model::kMaxTokens) {
        return Status::too_many_tokens;
    }
    bool ids_fit = true;
    bool segments_fit = true;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids_fit = ids_fit && ids[i] >= 0 && ids[i] < kVocabulary;
        segments_fit = segments_fit && (!with_segments || segments[i] < model::kSegments);
    }
    return !ids_fit ? Status::token_out_of_range : segments_fit ? Status::ok : Status::segment_out_of_range;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    const std::uint8_t how = input.byte();
    const bool with_segments = (how & 1) != 0;
    std::vector<std::int32_t> ids;
    std::vector<std::uint8_t> segments;
    while (!input.empty()) {
        const std::uint8_t segment = input.byte();
        segments.push_back((how & 2) != 0 ? segment : segment % 2);
        const std::int32_t high = input.byte();
        const std::int32_t low = input.byte();
        const std::int32_t id = high << 8 | low;
        if ((how & 4) != 0) {
            ids.push_back(static_cast<std::int16_t>(id) * 0xFFFF);  // all over the range
        } else {
            ids.push_back(high == 0xFF ? kVocabulary - 2 + low % 4 : id % kVocabulary);
        }
    }
    if ((how & 8) != 0) {  // too many, without their bytes
        ids.resize(ids.size() + model::kMaxTokens + 1, 1);
        segments.resize(ids.size(), 0);
    }
    ids.shrink_to_fit();  // exact, for the address sanitizer
    segments.shrink_to_fit();
    const Status wanted = expected(ids, segments, with_segments);

    model::Result best{};
    for (std::size_t i = 0; !model::usable_kernel(i).empty(); ++i) {
        check(model::select_kernel(workspace, model::usable_kernel(i)) == Status::ok, "a usable kernel is usable");
        model::Result result{};
        result.label = 77;
        const Status status = model::classify_tokens(workspace, ids.data(), with_segments ? segments.data() : nullptr,
                                                     static_cast<std::uint32_t>(ids.size()), result);
        const bool both_wrong =
            wanted == Status::token_out_of_range && status == Status::segment_out_of_range;  // either may be named
        check(status == wanted || both_wrong, "wrong ids are refused, and only those");
        if (status != Status::ok) {
            check(result.label == 77 && result.tokens == 0, "a refusal writes nothing");
            continue;
        }
        check(result.label < model::kLabelCount && result.tokens == ids.size(), "an answer to every token");
        check(std::isfinite(result.logits[result.label]), "logits are finite");
        if (i == 0) {
            best = result;
        }
        check(std::memcmp(result.logits, best.logits, sizeof best.logits) == 0, "every kernel has the same logits");
    }
    return 0;
}
