// SPDX-License-Identifier: Apache-2.0
// A text or token ids in memory that the call writes while it reads them are refused; anywhere else they may lie,
// beside it and in a result, too.
#include <agnews.hpp>
#include <cstdio>
#include <cstring>
#include <memory>

namespace {

using etch::Status;
using namespace etch::agnews;

int failures = 0;

void expect(Status found, Status wanted, const char* what) {
    if (found == wanted) return;
    std::printf("%s: %s\n", what, etch::describe(found));
    ++failures;
}

// Two of each: what lies beside one of them is known to be memory.
struct Memory {
    Workspace workspace;
    Encoding encodings[2];
    Result results[3];
};

constexpr std::string_view kText = "Oil prices climb again";

template <class T>
std::string_view text_at(T* place) {
    char* const bytes = reinterpret_cast<char*>(place);
    std::memcpy(bytes, kText.data(), kText.size());
    return {bytes, kText.size()};
}

}  // namespace

int main() {
    const auto memory = std::make_unique<Memory>();
    Workspace& w = memory->workspace;
    Encoding& encoding = memory->encodings[0];
    Result result{};
    Result expected{};
    expect(classify(w, kText, expected), Status::ok, "a text");

    for (std::uint8_t* const place : {w.arena, w.arena + kArenaBytes / 2, w.arena + kArenaBytes - kText.size()}) {
        const std::string_view text = text_at(place);
        expect(classify(w, text, result), Status::text_overlaps, "classify, workspace");
        expect(classify_pair(w, kText, text_at(place), result), Status::text_overlaps, "classify_pair, workspace");
        expect(classify_pair(w, text_at(place), kText, result), Status::text_overlaps, "classify_pair, workspace");
        const std::string_view texts[] = {kText, text};
        expect(classify_batch(w, texts, 2, memory->results), Status::text_overlaps, "classify_batch, workspace");
        expect(begin(w, text), Status::text_overlaps, "begin, workspace");
        expect(step(w, 1, result), Status::not_begun, "step");
        expect(begin_pair(w, kText, text), Status::text_overlaps, "begin_pair, workspace");
        expect(encode(w, text, encoding), Status::text_overlaps, "encode, workspace");
        expect(encode_pair(w, kText, text, encoding), Status::text_overlaps, "encode_pair, workspace");
    }
    auto* const ids = reinterpret_cast<std::int32_t*>(w.arena + 64);
    ids[0] = ids[1] = 2;
    const std::int32_t good[] = {2, 3};
    expect(classify_tokens(w, ids, nullptr, 2, result), Status::text_overlaps, "classify_tokens, ids");
    expect(begin_tokens(w, ids, nullptr, 2), Status::text_overlaps, "begin_tokens, ids");
    w.arena[0] = w.arena[1] = 0;
    expect(classify_tokens(w, good, w.arena, 2, result), Status::text_overlaps, "classify_tokens, segments");

    const auto last_bytes = [](auto& object) {
        return reinterpret_cast<char*>(&object) + sizeof object - kText.size();
    };
    for (char* const place : {reinterpret_cast<char*>(&encoding), last_bytes(encoding)}) {
        expect(encode(w, text_at(place), encoding), Status::text_overlaps, "encode, encoding");
        expect(encode_pair(w, text_at(place), kText, encoding), Status::text_overlaps, "encode_pair, encoding");
        expect(encode_pair(w, kText, text_at(place), encoding), Status::text_overlaps, "encode_pair, encoding");
    }
    expect(encode(w, text_at(&memory->encodings[1]), encoding), Status::ok, "encode, beside");
    expect(classify_tokens(w, encoding.ids, encoding.segments, encoding.count, result), Status::ok, "an encoding");

    const std::string_view texts[] = {kText, text_at(&memory->results[1])};
    expect(classify_batch(w, texts, 2, memory->results), Status::text_overlaps, "classify_batch, results");
    const std::string_view beside[] = {kText, text_at(&memory->results[2])};
    expect(classify_batch(w, beside, 2, memory->results), Status::ok, "classify_batch, beside");
    auto* const list = reinterpret_cast<std::string_view*>(memory->results);
    list[0] = list[1] = kText;
    expect(classify_batch(w, list, 2, memory->results), Status::text_overlaps, "classify_batch, list in results");

    // The result is written when the text has been read.
    expect(classify(w, text_at(&result), result), Status::ok, "classify, text in the result");
    if (std::memcmp(result.logits, expected.logits, sizeof result.logits) != 0) ++failures;
    expect(classify(w, {}, result), Status::ok, "no text");
    expect(classify(w, {reinterpret_cast<char*>(w.arena), 0}, result), Status::ok, "no byte of the workspace");
    if (failures == 0) std::printf("refused where it matters: same bits\n");
    return failures == 0 ? 0 : 1;
}
