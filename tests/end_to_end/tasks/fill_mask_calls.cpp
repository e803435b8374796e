// SPDX-License-Identifier: Apache-2.0
// The calls of a model that fills masks on each line of standard input: batches, steps, token ids and the C functions
// give what fill_mask() gives, whatever the capacity. Exit code 0 where they do; else the line of the first check that
// does not hold. The argument names the kernels. The model is the one that the macros name.
#include "calls.hpp"
#include "promises/float_modes.hpp"

using Row = std::vector<etch::Candidate>;  // [masks][top]

static bool same(const etch::Candidate* a, const etch::Candidate* b, std::size_t count) {
    return count == 0 || std::memcmp(a, b, count * sizeof *a) == 0;
}

static bool same_score(const etch::Score& a, const etch::Score& b) {
    return std::memcmp(&a.log_probability, &b.log_probability, sizeof(float)) == 0 && a.scored == b.scored &&
           a.tokens == b.tokens && a.truncated == b.truncated;
}

static model::Result wanted(Row& room, std::uint32_t capacity, std::uint32_t top) {
    return {capacity == 0 ? nullptr : room.data(), capacity, top, 0, 0, nullptr, false};
}

int main(int, char** argv) {
    CHECK(take_kernels(argv[1]));
    const std::vector<std::string> lines = read_lines();
    const std::vector<std::string_view> texts(lines.begin(), lines.end());
    constexpr std::uint32_t kTop = 3;
    std::vector<Row> alone;
    std::vector<std::uint32_t> tokens;
    for (const std::string_view text : texts) {
        Row room(model::kMaxTokens * kTop);
        model::Result result = wanted(room, model::kMaxTokens, kTop);
        CHECK(model::fill_mask(workspace, text, result) == etch::Status::ok);
        CHECK(result.count <= result.tokens && result.best != nullptr);
        const std::uint32_t masks = result.count;
        for (std::uint32_t mask = 0; mask < masks; ++mask) {
            for (std::uint32_t i = 0; i < kTop; ++i) {
                const float* row = result.best + mask * model::kBestWidth;
                CHECK(static_cast<float>(room[mask * kTop + i].id) == row[i]);
                CHECK(room[mask * kTop + i].probability == row[model::kMostCandidates + i]);
            }
        }
        const std::vector<float> best(result.best, result.best + masks * model::kBestWidth);
        room.resize(masks * kTop);
        alone.push_back(room);
        tokens.push_back(result.tokens);

        // As many as the caller has room for, and no more.
        for (const std::uint32_t capacity : {0U, 1U, masks}) {
            Row some((capacity + 1) * kTop, etch::Candidate{-7, -1});
            model::Result cut = wanted(some, capacity, kTop);
            CHECK(model::fill_mask(workspace, text, cut) == etch::Status::ok && cut.count == masks);
            const std::uint32_t written = capacity < masks ? capacity : masks;
            CHECK(same(some.data(), room.data(), written * kTop));
            for (std::size_t i = written * kTop; i < some.size(); ++i)
                CHECK(some[i].id == -7);
        }
        // Of each mask as many as there are, in rows of the width that was asked for.
        constexpr std::uint32_t kMore = model::kMostCandidates + 2;
        Row wide(model::kMaxTokens * kMore, etch::Candidate{-7, -1});
        model::Result more = wanted(wide, model::kMaxTokens, kMore);
        CHECK(model::fill_mask(workspace, text, more) == etch::Status::ok);
        for (std::uint32_t mask = 0; mask < masks; ++mask) {
            CHECK(same(&wide[mask * kMore], &room[mask * kTop], kTop));
            CHECK(wide[mask * kMore + model::kMostCandidates].id == -7);
        }
        Row none(1, etch::Candidate{-7, -1});
        model::Result no_top = wanted(none, model::kMaxTokens, 0);
        CHECK(model::fill_mask(workspace, text, no_top) == etch::Status::ok && none[0].id == -7);

        for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{5000}, std::uint64_t{1} << 40}) {
            Row stepped(model::kMaxTokens * kTop);
            model::Result in_steps = wanted(stepped, model::kMaxTokens, kTop);
            CHECK(model::begin(workspace, text) == etch::Status::ok);
            etch::Status status = etch::Status::in_progress;
            while (status == etch::Status::in_progress)
                status = model::step(workspace, budget, in_steps);
            CHECK(status == etch::Status::ok && in_steps.count == masks);
            CHECK(same(stepped.data(), room.data(), masks * kTop));
        }

        std::vector<etch_candidate> c_room(model::kMaxTokens * kTop);
        ETCH_C(result) c_result = {c_room.data(), model::kMaxTokens, kTop, 0, 0, nullptr, false};
        CHECK(ETCH_C(fill_mask)(&c_workspace, text.data(), text.size(), &c_result) == ETCH_OK);
        CHECK(c_result.count == masks && c_result.tokens == result.tokens);
        CHECK(masks == 0 || std::memcmp(c_room.data(), room.data(), masks * kTop * sizeof room[0]) == 0);

        model::Encoding encoding;
        CHECK(model::encode(workspace, text, encoding) == etch::Status::ok);
        Row by_ids(model::kMaxTokens * kTop);
        model::Result of_ids = wanted(by_ids, model::kMaxTokens, kTop);
        CHECK(model::fill_mask_tokens(workspace, encoding.ids, nullptr, encoding.count, of_ids) == etch::Status::ok);
        CHECK(of_ids.count == masks && same(by_ids.data(), room.data(), masks * kTop));
        CHECK(best.empty() || std::memcmp(of_ids.best, best.data(), best.size() * sizeof(float)) == 0);
    }
    std::vector<model::Result> results(texts.size());
    std::vector<Row> rooms(texts.size(), Row(model::kMaxTokens * kTop));
    for (std::size_t i = 0; i < texts.size(); ++i)
        results[i] = wanted(rooms[i], model::kMaxTokens, kTop);
    CHECK(model::fill_mask_batch(workspace, texts.data(), texts.size(), results.data()) == etch::Status::ok);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        CHECK(results[i].count * kTop == alone[i].size() && results[i].tokens == tokens[i]);
        CHECK(results[i].best == nullptr && same(rooms[i].data(), alone[i].data(), alone[i].size()));
    }
    std::vector<etch::Score> scores(texts.size());
    CHECK(model::score_batch(workspace, texts.data(), texts.size(), scores.data()) == etch::Status::ok);
    std::vector<etch_text> c_texts;
    for (const std::string_view text : texts)
        c_texts.push_back({text.data(), text.size()});
    std::vector<etch_score> c_scores(texts.size());
    CHECK(ETCH_C(score_batch)(&c_workspace, c_texts.data(), texts.size(), c_scores.data()) == ETCH_OK);
    for (std::size_t i = 0; i < texts.size(); ++i) {
        etch::Score score{};
        CHECK(model::score(workspace, texts[i], score) == etch::Status::ok);
        CHECK(same_score(scores[i], score));
        CHECK(std::memcmp(&c_scores[i], &scores[i], offsetof(etch_score, truncated)) == 0);
    }
    const std::string_view places[] = {{reinterpret_cast<const char*>(scores.data() + scores.size()) - 4, 4},
                                       {reinterpret_cast<const char*>(&workspace), 4}};
    for (const std::string_view inside : places) {
        std::vector<std::string_view> some(texts.begin(), texts.end());
        some.back() = inside;
        CHECK(model::score_batch(workspace, some.data(), some.size(), scores.data()) == etch::Status::text_overlaps);
    }
    CHECK(model::begin(workspace, texts[0]) == etch::Status::ok);
    CHECK(model::score_batch(workspace, nullptr, 0, nullptr) == etch::Status::ok);
    CHECK(model::step(workspace, 1, results[0]) == etch::Status::not_begun);
    for (const std::string_view text : texts) {
        etch::Score score{};
        CHECK(model::score(workspace, text, score) == etch::Status::ok && score.scored < score.tokens);
        CHECK(score.log_probability < 0 || score.scored == 0);
        for (const promises::FloatBits mode : promises::all_float_bits()) {
            etch::Score in_mode{};
            promises::set_float_bits(mode);
            const etch::Status status = model::score(workspace, text, in_mode);
            promises::set_float_bits(promises::kUsual);
            CHECK(status == etch::Status::ok && same_score(in_mode, score));
        }
        for (const std::uint64_t budget : {std::uint64_t{1}, std::uint64_t{30000}, std::uint64_t{1} << 40}) {
            etch::Score in_steps{};
            CHECK(model::begin_score(workspace, text) == etch::Status::ok);
            CHECK(model::step(workspace, budget, results[0]) == etch::Status::not_begun);
            std::uint32_t steps = 1;
            for (etch::Status status; (status = model::step_score(workspace, budget, in_steps)) != etch::Status::ok;
                 ++steps)
                CHECK(status == etch::Status::in_progress);
            CHECK(steps >= score.scored && same_score(in_steps, score));
            CHECK(model::step_score(workspace, budget, in_steps) == etch::Status::not_begun);
        }
        model::Encoding encoding;
        CHECK(model::begin_score(workspace, text) == etch::Status::ok);
        CHECK(model::encode(workspace, text, encoding) == etch::Status::ok);
        CHECK(model::step_score(workspace, 1, score) == etch::Status::not_begun);
        CHECK(model::begin(workspace, text) == etch::Status::ok);
        CHECK(model::step_score(workspace, 1, score) == etch::Status::not_begun);
        etch::Score of_ids{};
        CHECK(model::score_tokens(workspace, encoding.ids, nullptr, encoding.count, of_ids) == etch::Status::ok);
        CHECK(of_ids.log_probability == score.log_probability && of_ids.scored == score.scored);
        CHECK(model::score_tokens(workspace, encoding.ids, nullptr, 1, of_ids) == etch::Status::ok);
        CHECK(of_ids.scored == 0 && of_ids.log_probability == 0);
        etch_score c_score;
        CHECK(ETCH_C(score)(&c_workspace, text.data(), text.size(), &c_score) == ETCH_OK);
        CHECK(std::memcmp(&c_score.log_probability, &score.log_probability, sizeof(float)) == 0);
        CHECK(ETCH_C(begin_score)(&c_workspace, text.data(), text.size()) == ETCH_OK);
        CHECK(ETCH_C(step_score)(&c_workspace, 1, &c_score) != ETCH_NOT_BEGUN);
        CHECK(ETCH_C(score_tokens)(&c_workspace, encoding.ids, nullptr, encoding.count, &c_score) == ETCH_OK);
        CHECK(c_score.scored == score.scored && c_score.tokens == score.tokens);
        const std::string_view own(reinterpret_cast<const char*>(&workspace), 4);
        CHECK(model::score(workspace, own, score) == etch::Status::text_overlaps);
    }
    {
        const InUse another;
        const auto away = etch::Status::workspace_in_use;
        etch::Score score{};
        CHECK(model::fill_mask(workspace, texts[0], results[0]) == away);
        CHECK(model::score(workspace, texts[0], score) == away);
        CHECK(model::score_batch(workspace, texts.data(), texts.size(), scores.data()) == away);
        CHECK(model::begin_score(workspace, texts[0]) == away);
        CHECK(model::step_score(workspace, 1, score) == away);
        CHECK(model::step(workspace, 1, results[0]) == away);
        CHECK(model::self_test(workspace) == away);
    }
    CHECK(model::self_test(workspace) == etch::Status::ok);
    CHECK(ETCH_C(self_test)(&c_workspace) == ETCH_OK);
    CHECK(ETCH_C(mask)().size == model::kMask.size());
    return 0;
}
