/* SPDX-License-Identifier: Apache-2.0
 *
 * A generated model, whatever its name, under names that do not depend on it. ETCH_HEADER, ETCH_PREFIX (etch_NAME_),
 * ETCH_COUNT (of outputs), ETCH_VERB (classify or regress) and ETCH_OUTPUTS (member of the result) come from the
 * command line. */
#include <string.h>

#include ETCH_HEADER

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define CALL(name) JOIN(ETCH_PREFIX, name)

static CALL(workspace) workspace;
static CALL(result) result;
static CALL(encoding) encoding;
static char kernel[64];

unsigned peer_outputs(void) {
    return ETCH_COUNT;
}

const char* peer_version(void) {
    return ETCH_VERSION;
}

const char* peer_kernel(void) {
    const etch_text name = CALL(kernel)(&workspace);
    memcpy(kernel, name.data, name.size < sizeof kernel ? name.size : sizeof kernel - 1);
    return kernel;
}

static int copy(etch_status status, float* outputs) {
    if (status == ETCH_OK) memcpy(outputs, result.ETCH_OUTPUTS, sizeof result.ETCH_OUTPUTS);
    return (int)status;
}

int peer_tokens(const int32_t* ids, uint32_t count, float* outputs) {
    return copy(CALL(JOIN(ETCH_VERB, _tokens))(&workspace, ids, NULL, count, &result), outputs);
}

int peer_text(const char* text, size_t length, float* outputs) {
    return copy(CALL(ETCH_VERB)(&workspace, text, length, &result), outputs);
}

/* Text i is bytes[ends[i - 1]] to bytes[ends[i]]. Returns how many tokens they have in all, 0 on failure. */
size_t peer_tokenize(const char* bytes, const size_t* ends, size_t count) {
    size_t tokens = 0, begin = 0;
    for (size_t i = 0; i < count; begin = ends[i++]) {
        if (CALL(encode)(&workspace, bytes + begin, ends[i] - begin, &encoding) != ETCH_OK) return 0;
        tokens += encoding.count;
    }
    return tokens;
}
