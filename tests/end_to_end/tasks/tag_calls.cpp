// SPDX-License-Identifier: Apache-2.0
// The calls of a tagger on each line of standard input: batches, steps, token ids and the C functions give what tag()
// gives, whatever the capacity. Exit code 0 where they do; else the line of the first check that does not hold. The
// argument names the kernels. The model is the one that the macros name.
#include "calls.hpp"

static bool same(const etch::TagSpan& a, const etch::TagSpan& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
}

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    const std::vector<std::string_view> texts(lines.begin(), lines.end());
    for (int aggregation = 0; aggregation < 5; ++aggregation) {
        const auto wanted = static_cast<etch::Aggregation>(aggregation);
        std::vector<std::vector<etch::TagSpan>> alone;
        std::vector<std::uint32_t> tokens;
        for (const std::string_view text : texts) {
            std::vector<etch::TagSpan> spans(model::kMaxTokens);
            model::Result result{spans.data(), model::kMaxTokens, wanted, 0, 0, nullptr, nullptr, false};
            CHECK(model::tag(workspace, text, result) == etch::Status::ok);
            CHECK(result.count <= result.tokens && result.offsets != nullptr);
            spans.resize(result.count);
            alone.push_back(spans);
            tokens.push_back(result.tokens);
            const std::vector<float> probability(result.probability,
                                                 result.probability + result.tokens * model::kLabelCount);

            // As many as the caller has room for, and no more.
            for (const std::uint32_t capacity : {0U, 1U, result.count}) {
                std::vector<etch::TagSpan> some(capacity + 1, etch::TagSpan{77, -1, 77, 77});
                model::Result cut{
                    capacity == 0 ? nullptr : some.data(), capacity, wanted, 0, 0, nullptr, nullptr, false};
                CHECK(model::tag(workspace, text, cut) == etch::Status::ok && cut.count == spans.size());
                for (std::uint32_t i = 0; i < capacity && i < cut.count; ++i)
                    CHECK(same(some[i], spans[i]));
                CHECK(some[capacity].label == 77);
            }

            std::vector<etch::TagSpan> stepped(model::kMaxTokens);
            model::Result in_steps{stepped.data(), model::kMaxTokens, wanted, 0, 0, nullptr, nullptr, false};
            CHECK(model::begin(workspace, text) == etch::Status::ok);
            etch::Status status = etch::Status::in_progress;
            while (status == etch::Status::in_progress)
                status = model::step(workspace, 2000, in_steps);
            CHECK(status == etch::Status::ok && in_steps.count == spans.size());
            for (std::size_t i = 0; i < spans.size(); ++i)
                CHECK(same(stepped[i], spans[i]));

            std::vector<etch_tag_span> c_spans(model::kMaxTokens);
            ETCH_C(result)
            c_result = {
                c_spans.data(), model::kMaxTokens, static_cast<std::uint8_t>(aggregation), 0, 0, nullptr, nullptr,
                false};
            CHECK(ETCH_C(tag)(&c_workspace, text.data(), text.size(), &c_result) == ETCH_OK);
            CHECK(c_result.count == spans.size() && c_result.tokens == result.tokens);
            CHECK(spans.empty() || std::memcmp(c_spans.data(), spans.data(), spans.size() * sizeof spans[0]) == 0);

            // Of ids the same probabilities, and tokens in place of bytes.
            model::Encoding encoding;
            CHECK(model::encode(workspace, text, encoding) == etch::Status::ok);
            model::Result of_ids{stepped.data(), model::kMaxTokens, wanted, 0, 0, nullptr, nullptr, false};
            CHECK(model::tag_tokens(workspace, encoding.ids, nullptr, encoding.count, of_ids) == etch::Status::ok);
            CHECK(std::memcmp(of_ids.probability, probability.data(), probability.size() * sizeof(float)) == 0);
            for (std::uint32_t i = 0; i < of_ids.count; ++i)
                CHECK(stepped[i].begin < stepped[i].end && stepped[i].end <= of_ids.tokens);
            CHECK(model::tag_pair(workspace, text, text, of_ids) == etch::Status::pair_not_supported);
        }
        std::vector<model::Result> results(texts.size());
        std::vector<etch::TagSpan> room(texts.size() * model::kMaxTokens);
        for (std::size_t i = 0; i < texts.size(); ++i)
            results[i] = {
                room.data() + i * model::kMaxTokens, model::kMaxTokens, wanted, 0, 0, nullptr, nullptr, false};
        CHECK(model::tag_batch(workspace, texts.data(), texts.size(), results.data()) == etch::Status::ok);
        for (std::size_t text = 0; text < texts.size(); ++text) {
            CHECK(results[text].count == alone[text].size() && results[text].tokens == tokens[text]);
            CHECK(results[text].offsets == nullptr && results[text].probability == nullptr);
            for (std::size_t i = 0; i < alone[text].size(); ++i)
                CHECK(same(results[text].spans[i], alone[text][i]));
        }
    }
    CHECK(model::self_test(workspace) == etch::Status::ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    CHECK(ETCH_C(entity)(model::kEntityCount).size == 0 && ETCH_C(label)(0).size == model::kLabels[0].size());
    return 0;
}
