// SPDX-License-Identifier: Apache-2.0
// The calls of a model that embeds sparsely on each line of standard input: batches, steps, workers, token ids and the
// C functions give what embed_sparse() gives, whatever the capacity, and likewise of queries. Exit code 0 where they
// do; else the line of the first check that does not hold. The argument names the kernels. The model is the one that
// the macros name.
#include "calls.hpp"
#include "etch/similarity.hpp"
#include "promises/float_modes.hpp"

using Weights = std::vector<etch::TokenWeight>;

static bool same(const etch::TokenWeight* a, const etch::TokenWeight* b, std::size_t count) {
    return count == 0 || std::memcmp(a, b, count * sizeof *a) == 0;
}

static model::Result wanted(Weights& room, std::uint32_t capacity) {
    return {capacity == 0 ? nullptr : room.data(), capacity, 0, 0, nullptr, false};
}

// Whether a result has room for all, and has each weight above 0 where its dense row has it.
static bool is_whole(const model::Result& result, const Weights& room) {
    if (result.dense == nullptr) return false;
    std::uint32_t above = 0;
    for (std::uint32_t entry = 0; entry < model::kWeightsWidth; ++entry) {
        if (!(result.dense[entry] >= 0.0f)) return false;
        above += result.dense[entry] > 0.0f ? 1U : 0U;
    }
    for (std::uint32_t i = 0; i < result.count; ++i) {
        if (!(room[i].weight > 0.0f && room[i].weight == result.dense[static_cast<std::size_t>(room[i].id)]))
            return false;
    }
    return above == result.count;
}

// 0 where a batch finds of each text what it has alone.
static int check_batch(decltype(&model::embed_sparse_batch) batch, const std::vector<std::string_view>& texts,
                       const std::vector<Weights>& alone, const std::vector<std::uint32_t>& tokens) {
    std::vector<model::Result> results(texts.size());
    std::vector<Weights> rooms(texts.size(), Weights(model::kWeightsWidth));
    for (std::size_t i = 0; i < texts.size(); ++i)
        results[i] = wanted(rooms[i], model::kWeightsWidth);
    CHECK(batch(workspace, texts.data(), texts.size(), results.data()) == etch::Status::ok);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        CHECK(results[i].count == alone[i].size() && results[i].tokens == tokens[i]);
        CHECK(results[i].dense == nullptr && same(rooms[i].data(), alone[i].data(), alone[i].size()));
    }
    return 0;
}

// 0 where all calls of queries find the same of the texts.
static int check_queries(const std::vector<std::string_view>& texts) {
    std::vector<Weights> alone;
    std::vector<std::uint32_t> tokens;
    for (const std::string_view text : texts) {
        Weights room(model::kWeightsWidth);
        model::Result result = wanted(room, model::kWeightsWidth);
        CHECK(model::embed_sparse_query(workspace, text, result) == etch::Status::ok);
        CHECK(is_whole(result, room) && result.tokens <= model::kMaxTokens);
        room.resize(result.count);
        alone.push_back(room);
        tokens.push_back(result.tokens);

        model::Encoding encoding;
        CHECK(model::encode(workspace, text, encoding) == etch::Status::ok);
        Weights by_ids(model::kWeightsWidth);
        model::Result of_ids = wanted(by_ids, model::kWeightsWidth);
        const etch::Status status =
            model::embed_sparse_query_tokens(workspace, encoding.ids, nullptr, encoding.count, of_ids);
        if (encoding.count > result.tokens) {
            CHECK(result.truncated && status == etch::Status::too_many_tokens);
        } else {
            CHECK(status == etch::Status::ok && of_ids.count == room.size());
            CHECK(same(by_ids.data(), room.data(), room.size()));
        }

        std::vector<etch_token_weight> c_room(model::kWeightsWidth);
        ETCH_C(result) c_result = {c_room.data(), model::kWeightsWidth, 0, 0, nullptr, false};
        CHECK(ETCH_C(embed_sparse_query)(&c_workspace, text.data(), text.size(), &c_result) == ETCH_OK);
        CHECK(c_result.count == room.size() && c_result.tokens == result.tokens);
        CHECK(room.empty() || std::memcmp(c_room.data(), room.data(), room.size() * sizeof room[0]) == 0);
        if (status == etch::Status::ok) {
            CHECK(ETCH_C(embed_sparse_query_tokens)(&c_workspace, encoding.ids, nullptr, encoding.count, &c_result) ==
                  ETCH_OK);
            CHECK(c_result.count == room.size());
        }
    }
    CHECK(check_batch(model::embed_sparse_query_batch, texts, alone, tokens) == 0);
    std::vector<etch_text> c_texts;
    for (const std::string_view text : texts)
        c_texts.push_back({text.data(), text.size()});
    std::vector<ETCH_C(result)> c_results(texts.size());
    CHECK(ETCH_C(embed_sparse_query_batch)(&c_workspace, c_texts.data(), texts.size(), c_results.data()) == ETCH_OK);
    for (std::size_t i = 0; i < texts.size(); ++i)
        CHECK(c_results[i].count == alone[i].size());
    const InUse another;
    model::Result none = {};
    CHECK(model::embed_sparse_query(workspace, texts[0], none) == etch::Status::workspace_in_use);
    CHECK(model::embed_sparse_query_batch(workspace, texts.data(), 1, &none) == etch::Status::workspace_in_use);
    return 0;
}

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    const std::vector<std::string_view> texts(lines.begin(), lines.end());
    std::vector<Weights> alone;
    std::vector<std::uint32_t> tokens;
    for (const std::string_view text : texts) {
        Weights room(model::kWeightsWidth);
        model::Result result = wanted(room, model::kWeightsWidth);
        CHECK(model::embed_sparse(workspace, text, result) == etch::Status::ok);
        const std::uint32_t count = result.count;
        CHECK(count > 0 && count <= model::kWeightsWidth && is_whole(result, room));
        const std::vector<float> dense(result.dense, result.dense + model::kWeightsWidth);
        room.resize(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            CHECK(i == 0 || room[i - 1].weight > room[i].weight ||
                  (room[i - 1].weight == room[i].weight && room[i - 1].id < room[i].id));
        }
        alone.push_back(room);
        tokens.push_back(result.tokens);

        // As many as the caller has room for, and no more.
        for (const std::uint32_t capacity : {0U, 1U, 2U, 7U, count - 1, count, count + 1}) {
            Weights some(capacity + 1, etch::TokenWeight{-7, -1});
            model::Result cut = wanted(some, capacity);
            CHECK(model::embed_sparse(workspace, text, cut) == etch::Status::ok && cut.count == count);
            const std::uint32_t written = capacity < count ? capacity : count;
            CHECK(same(some.data(), room.data(), written));
            for (std::size_t i = written; i < some.size(); ++i)
                CHECK(some[i].id == -7);
        }

        for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{5000}, std::uint64_t{1} << 40}) {
            Weights stepped(model::kWeightsWidth);
            model::Result in_steps = wanted(stepped, model::kWeightsWidth);
            CHECK(model::begin(workspace, text) == etch::Status::ok);
            etch::Status status = etch::Status::in_progress;
            while (status == etch::Status::in_progress)
                status = model::step(workspace, budget, in_steps);
            CHECK(status == etch::Status::ok && in_steps.count == count && same(stepped.data(), room.data(), count));
        }

        for (const promises::FloatBits mode : promises::all_float_bits()) {
            Weights found(model::kWeightsWidth);
            model::Result in_mode = wanted(found, model::kWeightsWidth);
            promises::set_float_bits(mode);
            const etch::Status status = model::embed_sparse(workspace, text, in_mode);
            const float product = etch::dot_product(in_mode, in_mode);
            promises::set_float_bits(promises::kUsual);
            CHECK(status == etch::Status::ok && in_mode.count == count && same(found.data(), room.data(), count));
            CHECK(product == etch::dot_product(room.data(), count, room.data(), count));
        }

        alignas(64) static std::uint8_t scratch[2 * model::kScratchBytes];
        const etch::Executor executor{3, nullptr, run_in_turn, scratch};
        workspace.executor = &executor;
        Weights shared(model::kWeightsWidth);
        model::Result of_three = wanted(shared, model::kWeightsWidth);
        CHECK(model::embed_sparse(workspace, text, of_three) == etch::Status::ok);
        CHECK(of_three.count == count && same(shared.data(), room.data(), count));
        workspace.executor = nullptr;

        std::vector<etch_token_weight> c_room(model::kWeightsWidth);
        ETCH_C(result) c_result = {c_room.data(), model::kWeightsWidth, 0, 0, nullptr, false};
        CHECK(ETCH_C(embed_sparse)(&c_workspace, text.data(), text.size(), &c_result) == ETCH_OK);
        CHECK(c_result.count == count && c_result.tokens == result.tokens && c_result.dense != nullptr);
        CHECK(std::memcmp(c_room.data(), room.data(), count * sizeof room[0]) == 0);
        CHECK(ETCH_C(dot_product)(c_room.data(), count, c_room.data(), 1) == room[0].weight * room[0].weight);
        Weights in_order(room.begin(), room.begin() + count);
        etch::sort_by_id(in_order.data(), count);
        ETCH_C(sort_by_id)(c_room.data(), count);
        CHECK(std::memcmp(c_room.data(), in_order.data(), count * sizeof room[0]) == 0);

        model::Encoding encoding;
        CHECK(model::encode(workspace, text, encoding) == etch::Status::ok);
        Weights by_ids(model::kWeightsWidth);
        model::Result of_ids = wanted(by_ids, model::kWeightsWidth);
        CHECK(model::embed_sparse_tokens(workspace, encoding.ids, nullptr, encoding.count, of_ids) == etch::Status::ok);
        CHECK(of_ids.count == count && same(by_ids.data(), room.data(), count));
        CHECK(std::memcmp(of_ids.dense, dense.data(), dense.size() * sizeof(float)) == 0);
    }
    CHECK(check_batch(model::embed_sparse_batch, texts, alone, tokens) == 0);
    CHECK(check_queries(texts) == 0);
    {
        const InUse another;
        model::Result none = {};
        CHECK(model::embed_sparse(workspace, texts[0], none) == etch::Status::workspace_in_use);
        CHECK(model::step(workspace, 1, none) == etch::Status::workspace_in_use);
    }
    CHECK(model::self_test(workspace) == etch::Status::ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    return 0;
}
