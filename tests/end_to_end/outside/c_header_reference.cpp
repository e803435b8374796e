// SPDX-License-Identifier: Apache-2.0
// What the C++ functions of the model say, for c_header.c.
#include <cstdio>
#include <cstring>

#include "tiny.h"
#include "tiny.hpp"

namespace {

namespace tiny = etch::tiny;

tiny::Workspace workspace;
tiny::Encoding encoding;

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)

bool equal(etch_text c, std::string_view cpp) {
    return std::string_view(c.data, c.size) == cpp;
}

}  // namespace

extern "C" {

int same_result(const char* first, size_t first_length, const char* second, size_t second_length, int plain_text,
                etch_status status, const float* outputs, uint32_t tokens, bool truncated) {
    tiny::Result result;
    workspace.special_tokens = plain_text != 0 ? etch::SpecialTokens::plain_text : etch::SpecialTokens::recognized;
    const etch::Status expected =
        second != nullptr ? tiny::JOIN(VERB, _pair)(workspace, {first, first_length}, {second, second_length}, result)
                          : tiny::VERB(workspace, {first, first_length}, result);
    if (static_cast<int>(expected) != static_cast<int>(status)) return 0;
    return std::memcmp(outputs, result.OUTPUTS, sizeof result.OUTPUTS) == 0 && tokens == result.tokens &&
           truncated == result.truncated && sizeof result.OUTPUTS == COUNT * sizeof(float);
}

int same_encoding(const char* first, size_t first_length, const char* second, size_t second_length, etch_status status,
                  const etch_tiny_encoding* c) {
    workspace.special_tokens = etch::SpecialTokens::recognized;
    const etch::Status expected =
        second != nullptr ? tiny::encode_pair(workspace, {first, first_length}, {second, second_length}, encoding)
                          : tiny::encode(workspace, {first, first_length}, encoding);
    if (static_cast<int>(expected) != static_cast<int>(status)) return 0;
    const std::uint32_t n = encoding.count;
    return c->count == n && c->truncated == encoding.truncated &&
           std::memcmp(c->ids, encoding.ids, n * sizeof(std::int32_t)) == 0 &&
           std::memcmp(c->segments, encoding.segments, n) == 0 &&
           std::memcmp(c->offsets, encoding.offsets, n * sizeof(etch::TokenOffset)) == 0;
}

int same_texts(etch_text kernel, etch_text usable, etch_text past_the_last) {
    return equal(kernel, "scalar") && equal(usable, tiny::usable_kernel(0)) && past_the_last.size == 0;
}
}
