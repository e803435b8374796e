// SPDX-License-Identifier: Apache-2.0
// Token ids, beams, lengths and room from a caller: refused by name, or written with the bits of the call at once,
// whatever the kernels, the workers, the budgets of steps and the calls that are left. The macros name the model.
//
// An input is one byte for how the rest is read, one each for beams, capacity, the most tokens and kernels, a length
// and two bytes a token for each text, and what is done, a byte a step.
#include ETCH_MODEL_HEADER
#include ETCH_MODEL_WEIGHTS

#include <algorithm>
#include <vector>

#include "fuzz.hpp"

namespace {

namespace model = etch::ETCH_MODEL;
using etch::Status;
using etch::fuzz::check;

constexpr std::uint32_t kWorkers = 3;
constexpr std::uint32_t kMostTexts = 4;
constexpr auto kVocabulary = static_cast<std::int32_t>(model::kVocabulary);
constexpr std::int32_t kUntouched = -7;

model::Workspace workspace;
alignas(64) std::uint8_t scratch[(kWorkers - 1) * model::kScratchBytes];

// One worker after the other: the last one first.
void run_all(void*, void (*task)(void* argument, std::uint32_t worker), void* argument) noexcept {
    for (std::uint32_t worker = kWorkers; worker-- > 0;)
        task(argument, worker);
}

struct Text {
    std::vector<std::int32_t> ids;  // exact, for the address sanitizer

    const std::int32_t* data() const { return ids.empty() ? nullptr : ids.data(); }
    std::uint32_t count() const { return static_cast<std::uint32_t>(ids.size()); }
};

// What a call says of a text, and where it writes: exactly so much room.
struct Told {
    explicit Told(std::uint32_t capacity) : target(capacity, kUntouched) {}

    model::Result result{};
    std::vector<std::int32_t> target;

    std::uint32_t capacity() const { return static_cast<std::uint32_t>(target.size()); }
    bool operator==(const Told& other) const {
        return result.count == other.result.count && result.ended == other.result.ended &&
               result.tokens == other.result.tokens && result.truncated == other.result.truncated &&
               std::memcmp(&result.score, &other.result.score, sizeof(float)) == 0 && begins_as(other);
    }
    // Whether as much as there is so far is what the other one has there.
    bool begins_as(const Told& other) const {
        return result.count <= other.result.count &&
               std::equal(target.data(), target.data() + result.count, other.target.data());
    }
};

Status expected(const Text& text, bool may_be_drawn) {
    if (text.count() > model::kMaxTokens) return Status::too_many_tokens;
    for (const std::int32_t id : text.ids)
        if (id < 0 || id >= kVocabulary) return Status::token_out_of_range;
    if (text.ids.empty()) return Status::no_tokens;  // a text may be empty where a prompt may
    return may_be_drawn ? Status::ok : Status::sampling_out_of_range;
}

Status at_once(const Text& text, Told& told) {
    return model::ETCH_WRITE(workspace, text.data(), text.count(), told.target.data(), told.capacity(), told.result);
}

Status begin(const Text& text) {
    return model::begin_tokens(workspace, text.data(), text.count());
}

Status next(Told& told) {
    return model::next_tokens(workspace, told.target.data(), told.capacity(), told.result);
}

Status step(std::uint64_t budget, Told& told) {
    return model::step_tokens(workspace, budget, told.target.data(), told.capacity(), told.result);
}

// A call that ends what was begun.
void interfere(std::uint32_t how, const Text& text, std::uint32_t capacity) {
    Told other(capacity);
    std::uint32_t taken = 0;
    const std::uint32_t begins[] = {0, text.count()};
    if (how == 0) {
        at_once(text, other);
    } else if (how == 1) {
        check(model::found_tokens(workspace, 0, other.target.data(), capacity, other.result) == Status::not_begun,
              "nothing is found before a search is over");
    } else if (how == 2) {
        check(model::step_tokens_batch(workspace, 1, other.target.data(), capacity, &other.result) == Status::not_begun,
              "a text of its own is no batch");
    } else {
        model::begin_tokens_batch(workspace, text.data(), begins, 1, 1, taken);
    }
}

// What each sequence that was found is, the best first; none where the call was greedy.
std::vector<Told> found(std::uint32_t capacity) {
    std::vector<Told> all;
    for (Told told(capacity); model::found_tokens(workspace, static_cast<std::uint32_t>(all.size()), told.target.data(),
                                                  capacity, told.result) == Status::ok;
         told = Told(capacity))
        all.push_back(told);
    return all;
}

// A text in pieces, begun anew whenever the script says so.
void in_pieces(etch::fuzz::Input& script, const Text& text, const Told& meant, const std::vector<Told>& sequences) {
    Told told(meant.capacity());
    check(begin(text) == Status::ok, "what a call takes can be begun");
    Status status = Status::in_progress;
    while (status == Status::in_progress) {
        const std::uint32_t what = script.empty() ? 1 : script.byte();
        const std::uint32_t argument = what >> 2;
        if (script.empty()) {
            status = step(~std::uint64_t{0}, told);
        } else if (what % 4 == 0) {
            status = next(told);
        } else if (what % 4 != 3) {
            status = step(std::uint64_t{1} << argument, told);
        } else if (argument % 5 == 4) {
            check(begin(text) == Status::ok, "a text can be begun again");
            told = Told(meant.capacity());
        } else {
            interfere(argument % 5, text, meant.capacity());
            check(step(1, told) == Status::not_begun, "another call ends what was begun");
            check(begin(text) == Status::ok, "and it can be begun again");
            told = Told(meant.capacity());
        }
        check(told.begins_as(meant), "what is there stays");
    }
    check(status == Status::ok && told == meant, "steps have the bits of the call at once");
    check(found(meant.capacity()) == sequences, "and find the same sequences");
    check(step(1, told) == Status::not_begun, "what has ended does not go on");
}

// All texts in steps, a group after the other.
void together(etch::fuzz::Input& script, const std::vector<std::int32_t>& ids, const std::vector<std::uint32_t>& begins,
              const std::vector<Told>& meant) {
    const std::size_t count = meant.size();
    const std::uint32_t capacity = meant[0].capacity();
    std::uint32_t taken = 0;
    for (std::size_t first = 0; first < count; first += taken) {
        Status status = Status::not_begun;
        std::vector<std::int32_t> targets;
        std::vector<model::Result> results;
        while (status != Status::ok) {
            if (status == Status::not_begun) {
                status = model::begin_tokens_batch(workspace, ids.data(), begins.data(), count, first, taken);
                check(status == Status::ok, "texts that a batch takes can be begun");
                check(taken >= 1 && taken <= model::kBeams && first + taken <= count, "so many share the passes");
                targets.assign(taken * capacity, kUntouched);
                results.assign(taken, {});
            }
            const std::uint32_t what = script.empty() ? 255 : script.byte();
            status = model::step_tokens_batch(workspace, std::uint64_t{1} << what % 64, targets.data(), capacity,
                                              results.data());
            if (status == Status::in_progress && what >= 224 && what < 255) {
                const std::uint32_t begin_of = begins[first];
                Text text;
                text.ids.assign(ids.begin() + begin_of, ids.begin() + begins[first + 1]);
                interfere(what % 2 == 0 ? 0 : 3, text, capacity);
                status = model::step_tokens_batch(workspace, 1, targets.data(), capacity, results.data());
                check(status == Status::not_begun, "another call ends a batch");
            }
        }
        for (std::uint32_t i = 0; i < taken; ++i) {
            Told one(capacity);
            one.result = results[i];
            std::copy_n(targets.data() + i * capacity, one.result.count, one.target.data());
            check(one == meant[first + i], "a text of a batch has the bits that it has alone");
        }
    }
}

// The batch at once, and in steps where no text of it is refused.
void batch(etch::fuzz::Input& script, const std::vector<Text>& texts, const std::vector<Told>& meant, Status refusal) {
    const std::uint32_t capacity = meant[0].capacity();
    std::vector<std::int32_t> ids;
    std::vector<std::uint32_t> begins = {0};
    for (const Text& text : texts) {
        ids.insert(ids.end(), text.ids.begin(), text.ids.end());
        begins.push_back(static_cast<std::uint32_t>(ids.size()));
    }
    ids.shrink_to_fit();
    std::vector<std::int32_t> targets(texts.size() * capacity, kUntouched);
    std::vector<model::Result> results(texts.size());
    const Status status = model::ETCH_WRITE_BATCH(workspace, ids.data(), begins.data(), texts.size(), targets.data(),
                                                  capacity, results.data());
    check(status == refusal, "a batch is refused as its first wrong text is");
    if (status != Status::ok) return;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        Told one(capacity);
        one.result = results[i];
        std::copy_n(targets.data() + i * capacity, one.result.count, one.target.data());
        check(one == meant[i], "a batch has the bits of its texts alone");
    }
    together(script, ids, begins, meant);
}

void select(std::uint32_t which) {
    static const std::vector<std::string_view> names = [] {  // a CPU is slow to say what it can
        std::vector<std::string_view> all;
        while (!model::usable_kernel(all.size()).empty())
            all.push_back(model::usable_kernel(all.size()));
        return all;
    }();
    check(model::select_kernel(workspace, names[which % names.size()]) == Status::ok, "a usable kernel is usable");
}

std::int32_t next_id(etch::fuzz::Input& input, bool anywhere) {
    const std::int32_t high = input.byte();
    const std::int32_t low = input.byte();
    return anywhere ? static_cast<std::int16_t>(high << 8 | low) * 0x3FF : (high << 8 | low) % kVocabulary;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    etch::fuzz::Input input(data, size);
    const std::uint32_t how = input.byte();
    const bool drawn = (how & 1) != 0;
    const bool may_be_drawn = (how & 3) != 3;
    const etch::Executor executor{kWorkers, nullptr, run_all, scratch};
    workspace.beams = input.byte() % (model::kBeams + 3);
    const std::uint32_t capacity = input.byte() % (model::kMaxTarget + 2);
    workspace.max_target = input.byte() % (model::kMaxTarget + 2);
    const std::uint32_t kernels = input.byte();
    std::vector<Text> texts(1 + (how >> 2) % kMostTexts);
    for (Text& text : texts) {
        const std::uint32_t length = input.byte();
        text.ids.resize(length == 255 ? model::kMaxTokens + 1 : length % (model::kMaxTokens + 1));
        for (std::int32_t& id : text.ids)
            id = input.empty() ? 0 : next_id(input, (how & 32) != 0);
    }
    etch::Sampling sampling{how * 77U, how >> 6, may_be_drawn ? 0.5f + static_cast<float>(how >> 4) : -1.0f, how >> 3,
                            (how & 64) != 0 ? 0.8f : 1.0f};

    std::vector<Told> meant;
    std::vector<Told> sequences;  // that the first text's search finds
    Status refusal = Status::ok;
    for (const Text& text : texts) {
        workspace.sampling = drawn ? &sampling : nullptr;
        workspace.executor = nullptr;
        select(0);
        Told told(capacity);
        const Status status = at_once(text, told);
        check(status == expected(text, may_be_drawn), "wrong ids are refused, and only those");
        if (status != Status::ok) {
            check(told == Told(capacity) && told.target == Told(capacity).target, "a refusal writes nothing");
            check(begin(text) == status, "and nothing is begun");
            check(next(told) == Status::not_begun, "which could go on");
        }
        if (refusal == Status::ok) refusal = status;
        check(told.result.count <= std::min(capacity, model::kMaxTarget), "no more is written than there is room for");
        if (meant.empty()) sequences = found(capacity);
        meant.push_back(told);
        if (kernels != 0 && status == Status::ok) {
            workspace.executor = &executor;
            select(kernels);
            Told again(capacity);
            check(at_once(text, again) == Status::ok && again == told,
                  "every kernel and any workers have the same bits");
        }
        ++sampling.text;  // as a batch numbers them
    }
    sampling.text = how >> 6;
    workspace.executor = (how & 128) != 0 ? &executor : nullptr;
    if (expected(texts[0], may_be_drawn) == Status::ok) in_pieces(input, texts[0], meant[0], sequences);
    batch(input, texts, meant, refusal);
    return 0;
}
