// SPDX-License-Identifier: Apache-2.0
// Whole texts through the default model: every kernel set gives the same bits. An input is one byte, odd for texts read
// as plain text, and one text, or two with FF FF between them.
#include <cmath>

#include "agnews.hpp"
#include "fuzz.hpp"

namespace {

namespace model = etch::agnews;
using etch::fuzz::check;

model::Workspace workspace;

model::Result classify(std::string_view first, const std::string_view* second) {
    model::Result result{};
    const etch::Status status = second != nullptr ? model::classify_pair(workspace, first, *second, result)
                                                  : model::classify(workspace, first, result);
    check(status == etch::Status::ok, "a text is classified, whatever it is");
    return result;
}

void check_result(const model::Result& result) {
    float sum = 0;
    for (std::uint32_t i = 0; i < model::kLabelCount; ++i) {
        check(std::isfinite(result.logits[i]), "logits are finite");
        check(result.probability[i] >= 0 && result.probability[i] <= 1, "a probability is one");
        check(result.logits[i] <= result.logits[result.label], "the label has the largest logit");
        sum += result.probability[i];
    }
    check(std::fabs(sum - 1) < 1e-5F, "probabilities add up to 1");
    check(result.tokens >= 2 && result.tokens <= model::kMaxTokens, "tokens are between [CLS] [SEP] and the most");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    workspace.special_tokens =
        (input.byte() & 1) != 0 ? etch::SpecialTokens::plain_text : etch::SpecialTokens::recognized;
    const std::size_t before = input.rest().size();
    const etch::fuzz::ExactText first(input.until(etch::fuzz::kBetweenTexts));
    const bool pair = first.view().size() < before;
    const etch::fuzz::ExactText second(input.rest());
    const std::string_view second_view = second.view();

    model::Result best{};
    for (std::size_t i = 0; !model::usable_kernel(i).empty(); ++i) {
        check(model::select_kernel(workspace, model::usable_kernel(i)) == etch::Status::ok,
              "a usable kernel is usable");
        const model::Result result = classify(first.view(), pair ? &second_view : nullptr);
        check_result(result);
        if (i == 0) {
            best = result;
        }
        check(std::memcmp(result.logits, best.logits, sizeof best.logits) == 0, "every kernel has the same logits");
        check(std::memcmp(result.probability, best.probability, sizeof best.probability) == 0, "and probabilities");
        check(result.tokens == best.tokens && result.truncated == best.truncated, "and tokens");
    }
    return 0;
}
