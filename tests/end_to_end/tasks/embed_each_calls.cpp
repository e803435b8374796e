// SPDX-License-Identifier: Apache-2.0
// The calls of a model that gives tokens vectors on each line of standard input, as a query and as a document: batches,
// steps, token ids and the C functions give what embed_each() gives, whatever the capacity. Exit code 0 where they do;
// else the line of the first check that does not hold. The argument names the kernels. The model is the one that the
// macros name.
#include <algorithm>

#include "calls.hpp"
#include "etch/similarity.hpp"

using Row = std::vector<float>;  // [capacity][width]
constexpr std::uint32_t kWidth = model::kVectorWidth;

static model::Result wanted(Row& room, std::uint32_t capacity, etch::Side side) {
    model::Result result{};
    result.vectors = capacity == 0 ? nullptr : room.data();
    result.capacity = capacity;
    result.side = side;
    return result;
}

static bool same(const float* a, const float* b, std::size_t count) {
    return count == 0 || std::memcmp(a, b, count * sizeof(float)) == 0;
}

// As max_sim() says it, one product after the other.
static float max_sim_of(const Row& query, const Row& document) {
    float sum = 0.0f;
    for (std::size_t q = 0; q < query.size(); q += kWidth) {
        float largest = etch::max_sim(&query[q], 1, document.data(), 1, kWidth);
        for (std::size_t d = kWidth; d < document.size(); d += kWidth)
            largest = std::max(largest, etch::max_sim(&query[q], 1, &document[d], 1, kWidth));
        sum += largest;
    }
    return sum;
}

static int check_side(const std::vector<std::string_view>& texts, etch::Side side, std::vector<Row>& alone) {
    for (const std::string_view text : texts) {
        Row room(model::kMaxTokens * kWidth);
        model::Result result = wanted(room, model::kMaxTokens, side);
        CHECK(model::embed_each(workspace, text, result) == etch::Status::ok);
        CHECK(result.count <= result.tokens && result.tokens <= model::kMaxTokens);
        std::uint32_t count = 0;
        for (std::uint32_t i = 0; i < result.tokens; ++i) {
            if (!result.kept[i]) continue;
            CHECK(same(result.rows + i * kWidth, &room[count * kWidth], kWidth));
            ++count;
        }
        CHECK(count == result.count);
        const Row rows(result.rows, result.rows + result.tokens * kWidth);
        const std::vector<bool> kept(result.kept, result.kept + result.tokens);
        room.resize(count * kWidth);
        alone.push_back(room);

        // As many as the caller has room for, and no more.
        for (const std::uint32_t capacity : {0U, 1U, count}) {
            Row some((capacity + 1) * kWidth, -7.0f);
            model::Result cut = wanted(some, capacity, side);
            CHECK(model::embed_each(workspace, text, cut) == etch::Status::ok && cut.count == count);
            const std::size_t written = std::min(capacity, count) * kWidth;
            CHECK(same(some.data(), room.data(), written));
            CHECK(std::all_of(some.begin() + static_cast<std::ptrdiff_t>(written), some.end(),
                              [](float value) { return value == -7.0f; }));
        }

        for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{5000}, std::uint64_t{1} << 40}) {
            Row stepped(model::kMaxTokens * kWidth);
            model::Result in_steps = wanted(stepped, model::kMaxTokens, side);
            const bool query = side == etch::Side::query;
            CHECK((query ? model::begin_query(workspace, text) : model::begin(workspace, text)) == etch::Status::ok);
            etch::Status status = etch::Status::in_progress;
            while (status == etch::Status::in_progress)
                status = model::step(workspace, budget, in_steps);
            CHECK(status == etch::Status::ok && in_steps.count == count && in_steps.tokens == result.tokens);
            CHECK(in_steps.truncated == result.truncated && same(stepped.data(), room.data(), room.size()));
        }

        Row c_room(model::kMaxTokens * kWidth);
        ETCH_C(result) c_result{};
        c_result.vectors = c_room.data();
        c_result.capacity = model::kMaxTokens;
        c_result.side = static_cast<std::uint8_t>(side);
        CHECK(ETCH_C(embed_each)(&c_workspace, text.data(), text.size(), &c_result) == ETCH_OK);
        CHECK(c_result.count == count && c_result.tokens == result.tokens && c_result.truncated == result.truncated);
        CHECK(same(c_room.data(), room.data(), room.size()));
        CHECK(ETCH_C(prompt)(static_cast<std::uint8_t>(side)).size ==
              (side == etch::Side::query ? model::kQueryPrompt : model::kDocumentPrompt).size());

        model::Encoding encoding;
        CHECK(model::encode(workspace, text, encoding) == etch::Status::ok);
        if (!result.truncated) {  // else a query has fewer of them, and its last one is the separator
            Row by_ids(model::kMaxTokens * kWidth);
            model::Result of_ids = wanted(by_ids, model::kMaxTokens, side);
            CHECK(model::embed_each_tokens(workspace, encoding.ids, nullptr, encoding.count, of_ids) ==
                  etch::Status::ok);
            CHECK(of_ids.count == count && of_ids.tokens == result.tokens && !of_ids.truncated);
            CHECK(same(of_ids.rows, rows.data(), rows.size()) && same(by_ids.data(), room.data(), room.size()));
            CHECK(std::equal(kept.begin(), kept.end(), of_ids.kept));
            CHECK((side == etch::Side::query ? model::begin_query_tokens : model::begin_tokens)(
                      workspace, encoding.ids, nullptr, encoding.count) == etch::Status::ok);
            CHECK(model::step(workspace, std::uint64_t{1} << 40, of_ids) == etch::Status::ok && of_ids.count == count);
        } else if (encoding.truncated == false) {
            model::Result of_ids = wanted(c_room, model::kMaxTokens, side);
            CHECK(model::embed_each_tokens(workspace, encoding.ids, nullptr, encoding.count, of_ids) ==
                  etch::Status::too_many_tokens);
        }
    }
    return 0;
}

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    const std::vector<std::string_view> texts(lines.begin(), lines.end());
    std::vector<Row> queries;
    std::vector<Row> documents;
    if (const int line = check_side(texts, etch::Side::query, queries)) return line;
    if (const int line = check_side(texts, etch::Side::document, documents)) return line;

    // Both sides in a batch; threads share the work of a text.
    alignas(64) static std::uint8_t scratch[2 * model::kScratchBytes];
    const etch::Executor executor{3, nullptr, run_in_turn, scratch};
    for (const etch::Executor* const shared : {static_cast<const etch::Executor*>(nullptr), &executor}) {
        workspace.executor = shared;
        std::vector<model::Result> results(texts.size());
        std::vector<Row> rooms(texts.size(), Row(model::kMaxTokens * kWidth));
        for (std::size_t i = 0; i < texts.size(); ++i)
            results[i] = wanted(rooms[i], model::kMaxTokens, i % 2 == 0 ? etch::Side::query : etch::Side::document);
        CHECK(model::embed_each_batch(workspace, texts.data(), texts.size(), results.data()) == etch::Status::ok);
        for (std::size_t i = 0; i < texts.size(); ++i) {
            const Row& expected = i % 2 == 0 ? queries[i] : documents[i];
            CHECK(results[i].count * kWidth == expected.size() &&
                  same(rooms[i].data(), expected.data(), expected.size()));
            CHECK(results[i].rows == nullptr && results[i].kept == nullptr);
        }
    }
    workspace.executor = nullptr;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const Row& document = documents[texts.size() - 1 - i];
        const auto count = [](const Row& row) { return static_cast<std::uint32_t>(row.size() / kWidth); };
        const float found =
            etch::max_sim(queries[i].data(), count(queries[i]), document.data(), count(document), kWidth);
        const float stepwise = document.empty() ? etch::kNoDocument : max_sim_of(queries[i], document);
        CHECK(same(&found, &stepwise, 1));
        const float of_c = ETCH_C(max_sim)(queries[i].data(), count(queries[i]), document.data(), count(document));
        CHECK(same(&found, &of_c, 1));
    }

    Row room(model::kMaxTokens * kWidth);
    model::Result result = wanted(room, model::kMaxTokens, etch::Side::query);
    CHECK(model::embed_each_pair(workspace, "a", "b", result) == etch::Status::pair_not_supported);
    CHECK(model::begin_pair(workspace, "a", "b") == etch::Status::pair_not_supported);
    const std::string_view own(reinterpret_cast<const char*>(&workspace), 4);
    CHECK(model::embed_each(workspace, own, result) == etch::Status::text_overlaps);
    CHECK(model::embed_each_batch(workspace, &own, 1, &result) == etch::Status::text_overlaps);
    CHECK(model::begin_query(workspace, own) == etch::Status::text_overlaps);
    CHECK(model::step(workspace, 1, result) == etch::Status::not_begun);
    CHECK(model::begin_query(workspace, "a") == etch::Status::ok);
    CHECK(model::embed_each_batch(workspace, nullptr, 0, nullptr) == etch::Status::ok);
    CHECK(model::step(workspace, 1, result) == etch::Status::not_begun);
    {
        const InUse another;
        const auto away = etch::Status::workspace_in_use;
        CHECK(model::embed_each(workspace, "a", result) == away);
        CHECK(model::embed_each_batch(workspace, texts.data(), 1, &result) == away);
        CHECK(model::begin(workspace, "a") == away);
        CHECK(model::begin_query(workspace, "a") == away);
        CHECK(model::step(workspace, 1, result) == away);
        CHECK(model::self_test(workspace) == away);
    }
    CHECK(model::self_test(workspace) == etch::Status::ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    return 0;
}
