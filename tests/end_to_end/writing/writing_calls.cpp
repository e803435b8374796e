// SPDX-License-Identifier: Apache-2.0
// Calls of a generative model as nobody should make them, and random ways to make one: statuses as the headers say,
// and always the bits of the call at once. The model is the one that the macros name; the argument is a seed.
#include ETCH_MODEL_HEADER

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace model = etch::ETCH_MODEL;

namespace {

using etch::Status;

#define CHECK(condition)                                        \
    do {                                                        \
        if (!(condition)) {                                     \
            std::printf("line %d: %s\n", __LINE__, #condition); \
            return 1;                                           \
        }                                                       \
    } while (false)

model::Workspace workspace;
std::uint32_t most_taken = 0;  // texts that were under way together

struct Told {
    model::Result result{};
    std::int32_t target[model::kMaxTarget];

    bool operator==(const Told& other) const {
        return result.count == other.result.count && result.ended == other.result.ended &&
               result.tokens == other.result.tokens && result.truncated == other.result.truncated &&
               std::memcmp(&result.score, &other.result.score, sizeof(float)) == 0 &&
               std::memcmp(target, other.target, result.count * sizeof *target) == 0;
    }
};

Status at_once(const std::vector<std::int32_t>& ids, std::uint32_t capacity, Told& told) {
    return model::ETCH_TASK(_tokens)(workspace, ids.data(), static_cast<std::uint32_t>(ids.size()), told.target,
                                     capacity, told.result);
}

Status begin(const std::vector<std::int32_t>& ids) {
    return model::begin_tokens(workspace, ids.data(), static_cast<std::uint32_t>(ids.size()));
}

Status next(Told& told, std::uint32_t capacity = model::kMaxTarget) {
    return model::next_tokens(workspace, told.target, capacity, told.result);
}

int refusals() {
    const std::vector<std::int32_t> ids = {4, 5, 6};
    Told told;
    CHECK(next(told) == Status::not_begun);
    CHECK(begin({}) == Status::no_tokens);
    CHECK(next(told) == Status::not_begun);
    CHECK(begin(std::vector<std::int32_t>(model::kMaxTokens + 1, 4)) == Status::too_many_tokens);
    CHECK(begin({-1}) == Status::token_out_of_range);
    workspace.beams = 1;
    auto* const own = reinterpret_cast<std::int32_t*>(workspace.arena);
    CHECK(begin(ids) == Status::ok);
    CHECK(model::next_tokens(workspace, own, 1, told.result) == Status::text_overlaps);
    CHECK(begin(ids) == Status::ok);
    CHECK(model::step_tokens(workspace, 1, own, 1, told.result) == Status::text_overlaps);
    CHECK(model::ETCH_TASK(_tokens)(workspace, ids.data(), 3, own, 1, told.result) == Status::text_overlaps);
    CHECK(begin(ids) == Status::ok);
    CHECK(model::found_tokens(workspace, 0, own, 1, told.result) == Status::text_overlaps);
    CHECK(next(told) == Status::not_begun);  // which has ended what was begun
    CHECK(model::found_tokens(workspace, 0, told.target, 1, told.result) == Status::not_begun);
    CHECK(next(told) == Status::not_begun);  // which has ended what was begun
    CHECK(begin(ids) == Status::ok);
    CHECK(next(told, 0) == Status::ok);  // no room: nothing is computed
    CHECK(told.result.count == 0 && told.result.ended == etch::Ended::capacity);
    CHECK(next(told) == Status::not_begun);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const etch::Sampling& sampling : {etch::Sampling{1, 0, nan, 0, 1.0f}, etch::Sampling{1, 0, -1.0f, 0, 1.0f},
                                           etch::Sampling{1, 0, 1.0f, 0, 0.0f}}) {
        workspace.sampling = &sampling;
        CHECK(begin(ids) == Status::sampling_out_of_range);
        CHECK(at_once(ids, model::kMaxTarget, told) == Status::sampling_out_of_range);
        CHECK(next(told) == Status::not_begun);
    }
    workspace.sampling = nullptr;
    const std::uint32_t begins[] = {0, 3, 3};
    std::vector<std::int32_t> targets(2 * model::kMaxTarget);
    model::Result results[2];
    const auto batch = [&](const std::int32_t* of, std::int32_t* to, model::Result* told_of) {
        return model::ETCH_TASK(_tokens_batch)(workspace, of, begins, 2, to, model::kMaxTarget, told_of);
    };
    CHECK(batch(ids.data(), own, results) == Status::text_overlaps);
    CHECK(batch(ids.data(), targets.data(), reinterpret_cast<model::Result*>(own)) == Status::text_overlaps);
    CHECK(batch(ids.data(), targets.data(), results) == Status::no_tokens);  // the second text
    CHECK(batch(targets.data() + 1, targets.data(), results) == Status::text_overlaps);
    auto* const inside = reinterpret_cast<std::uint32_t*>(workspace.arena);
    const std::uint32_t two[] = {0, 2, 3};
    std::memcpy(inside, two, sizeof two);
    CHECK(model::ETCH_TASK(_tokens_batch)(workspace, ids.data(), inside, 2, targets.data(), model::kMaxTarget,
                                          results) == Status::text_overlaps);
    std::memcpy(own, ids.data(), 3 * sizeof *own);
    CHECK(model::ETCH_TASK(_tokens_batch)(workspace, own, two, 2, targets.data(), model::kMaxTarget, results) ==
          Status::text_overlaps);
    CHECK(model::ETCH_TASK(_tokens_batch)(workspace, nullptr, begins, 0, nullptr, 1, nullptr) == Status::ok);
    return 0;
}

// In steps, too.
int refused_batches() {
    const std::vector<std::int32_t> ids = {4, 5, 6};
    const std::uint32_t begins[] = {0, 3, 3};
    std::int32_t targets[2 * model::kMaxTarget];
    model::Result results[2];
    std::uint32_t taken = 9;
    Told told;
    const auto begin_both = [&](const std::int32_t* of, std::size_t count, std::size_t first) {
        return model::begin_tokens_batch(workspace, of, begins, count, first, taken);
    };
    const auto step_both = [&](std::int32_t* to, model::Result* told_of) {
        return model::step_tokens_batch(workspace, 1, to, model::kMaxTarget, told_of);
    };
    CHECK(step_both(targets, results) == Status::not_begun);
    CHECK(begin_both(ids.data(), 2, 1) == Status::no_tokens && taken == 0);
    CHECK(step_both(targets, results) == Status::not_begun);
    CHECK(begin_both(reinterpret_cast<std::int32_t*>(workspace.arena), 1, 0) == Status::text_overlaps ||
          begin_both(reinterpret_cast<std::int32_t*>(workspace.arena), 1, 0) == Status::token_out_of_range);
    std::memcpy(workspace.arena, begins, sizeof begins);
    taken = 9;
    CHECK(model::begin_tokens_batch(workspace, ids.data(), reinterpret_cast<std::uint32_t*>(workspace.arena), 1, 0,
                                    taken) == Status::text_overlaps &&
          taken == 0);
    CHECK(begin_both(ids.data(), 1, 1) == Status::ok && taken == 0);
    CHECK(step_both(targets, results) == Status::not_begun);
    CHECK(begin_both(ids.data(), 1, 0) == Status::ok && taken == 1);
    CHECK(step_both(reinterpret_cast<std::int32_t*>(workspace.arena), results) == Status::text_overlaps);
    CHECK(begin_both(ids.data(), 1, 0) == Status::ok);
    CHECK(step_both(targets, reinterpret_cast<model::Result*>(workspace.arena)) == Status::text_overlaps);
    CHECK(next(told) == Status::not_begun);  // of one text: what was begun has ended
    CHECK(step_both(targets, results) == Status::not_begun);
    CHECK(begin(ids) == Status::ok);
    CHECK(step_both(targets, results) == Status::not_begun);
    CHECK(next(told) == Status::not_begun);
    return 0;
}

// A call that is left, and one that another call has ended: the next one knows nothing of it.
int cancelled(std::mt19937& random, const std::vector<std::int32_t>& ids) {
    Told meant;
    Told told;
    CHECK(at_once(ids, model::kMaxTarget, meant) == Status::ok);
    CHECK(begin(ids) == Status::ok);
    for (std::uint32_t i = random() % 3; i > 0; --i) {
        if (model::step_tokens(workspace, random() % 5000, told.target, model::kMaxTarget, told.result) == Status::ok)
            break;
    }
    Told again;
    CHECK(at_once(ids, model::kMaxTarget, again) == Status::ok);
    CHECK(again == meant);
    CHECK(next(told) == Status::not_begun);
    CHECK(begin(ids) == Status::ok);
    CHECK(begin(ids) == Status::ok);
    Status status;
    while ((status = next(told)) == Status::in_progress) {
    }
    CHECK(status == Status::ok && told == meant);
    return 0;
}

// Steps of any budget and tokens, in any order.
int any_way(std::mt19937& random, const std::vector<std::int32_t>& ids) {
    const std::uint32_t capacity = random() % (model::kMaxTarget + 1);
    Told meant;
    Told told;
    CHECK(at_once(ids, capacity, meant) == Status::ok);
    CHECK(meant.result.count <= capacity);
    CHECK(begin(ids) == Status::ok);
    Status status = Status::in_progress;
    while (status == Status::in_progress) {
        const std::uint64_t budget = std::uint64_t{1} << random() % 24;
        status = random() % 4 == 0 ? next(told, capacity)
                                   : model::step_tokens(workspace, budget, told.target, capacity, told.result);
    }
    CHECK(status == Status::ok && told == meant);
    return 0;
}

// A batch in steps of any budgets, begun anew now and then, or left for a call of one text.
int together(std::mt19937& random, const std::vector<std::vector<std::int32_t>>& texts) {
    const std::uint32_t capacity = random() % (model::kMaxTarget + 1);
    std::vector<std::int32_t> ids;
    std::vector<std::uint32_t> begins = {0};
    for (const std::vector<std::int32_t>& text : texts) {
        ids.insert(ids.end(), text.begin(), text.end());
        begins.push_back(static_cast<std::uint32_t>(ids.size()));
    }
    const std::size_t count = texts.size();
    std::vector<Told> meant(count);
    std::vector<std::int32_t> targets(count * capacity + 1, -7);
    std::vector<model::Result> results(count);
    CHECK(model::ETCH_TASK(_tokens_batch)(workspace, ids.data(), begins.data(), count, targets.data(), capacity,
                                          results.data()) == Status::ok);
    for (std::size_t i = 0; i < count; ++i) {
        meant[i].result = results[i];
        std::copy_n(targets.data() + i * capacity, results[i].count, meant[i].target);
    }
    std::uint32_t taken = 0;
    for (std::size_t first = 0; first < count; first += taken) {
        std::vector<std::int32_t> of_group(std::size_t{model::kBeams} * capacity + 1, -7);
        std::vector<model::Result> told(model::kBeams + std::size_t{1});
        Status status = Status::not_begun;
        bool may_leave = true;
        while (status != Status::ok) {
            if (status == Status::not_begun) {
                CHECK(model::begin_tokens_batch(workspace, ids.data(), begins.data(), count, first, taken) ==
                      Status::ok);
                CHECK(taken >= 1 && taken <= model::kBeams && first + taken <= count);
                most_taken = std::max(most_taken, taken);
            }
            const std::uint64_t budget = std::uint64_t{1} << random() % 24;
            status = model::step_tokens_batch(workspace, budget, of_group.data(), capacity, told.data());
            if (status == Status::in_progress && may_leave && random() % 50 == 0) {
                may_leave = false;
                Told other;
                CHECK(at_once(texts[0], model::kMaxTarget, other) == Status::ok);
                status = model::step_tokens_batch(workspace, 1, of_group.data(), capacity, told.data());
                CHECK(status == Status::not_begun);
            }
        }
        CHECK(of_group.back() == -7);
        for (std::uint32_t i = 0; i < taken; ++i) {
            Told one;
            one.result = told[i];
            std::copy_n(of_group.data() + i * capacity, told[i].count, one.target);
            CHECK(one == meant[first + i]);
        }
    }
    return 0;
}

}  // namespace

int main(int, char** argv) {
    std::mt19937 random(static_cast<std::uint32_t>(std::atoi(argv[1])));
    if (refusals() != 0 || refused_batches() != 0) return 1;
    for (int turn = 0; turn < 60; ++turn) {
        std::vector<std::int32_t> ids(1 + random() % model::kMaxTokens);
        for (std::int32_t& id : ids)
            id = static_cast<std::int32_t>(random() % ETCH_VOCABULARY);
        const etch::Sampling sampling{random(), turn % 7U, 0.5f + static_cast<float>(turn % 5), random() % 30, 0.9f};
        workspace.sampling = turn % 3 == 0 ? &sampling : nullptr;
        workspace.beams = static_cast<std::uint8_t>(random() % 4);
        if (cancelled(random, ids) != 0 || any_way(random, ids) != 0) return 1;
        std::vector<std::vector<std::int32_t>> texts(1 + random() % 5, ids);
        for (std::vector<std::int32_t>& text : texts)
            text.resize(1 + random() % text.size());
        if (together(random, texts) != 0) return 1;
    }
    CHECK(most_taken == std::min(model::kBeams, std::max(1U, model::kMaxTokens / etch::kPanelWidth)));
    return 0;
}
