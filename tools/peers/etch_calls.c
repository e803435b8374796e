/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a model that answers with numbers: what etch_model.h says, and ETCH_COUNT (of outputs), ETCH_VERB (classify
 * or regress) and ETCH_OUTPUTS (member of the result). */
#include <stdlib.h>

#include "etch_model.h"

enum { MOST_THREADS = 64 };

static CALL(workspace) others[MOST_THREADS - 1]; /* of the other threads, each with its part of a batch */
static CALL(encoding) encoding;

unsigned peer_outputs(void) {
    return ETCH_COUNT;
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

struct batch {
    const etch_text* texts;
    CALL(result) * results;
    size_t count;
    int failed; /* a part was */
};

static void run_part(void* argument, uint32_t worker) {
    struct batch* batch = argument;
    const size_t first = batch->count * worker / executor.workers;
    const size_t end = batch->count * (worker + 1) / executor.workers;
    CALL(workspace)* own = worker == 0 ? &workspace : &others[worker - 1];
    if (CALL(JOIN(ETCH_VERB, _batch))(own, batch->texts + first, end - first, batch->results + first) != ETCH_OK) {
        batch->failed = 1;
    }
}

/* Texts as above; outputs [count][peer_outputs()]. Returns 0 unless something failed. */
int peer_batch(const char* bytes, const size_t* ends, size_t count, float* outputs) {
    struct batch batch = {NULL, malloc(count * sizeof result), count, 0};
    etch_text* texts = malloc(count * sizeof *texts);
    if (batch.results == NULL || texts == NULL) return 1;
    for (size_t i = 0, begin = 0; i < count; begin = ends[i++]) {
        texts[i].data = bytes + begin;
        texts[i].size = ends[i] - begin;
    }
    batch.texts = texts;
    const etch_text same = CALL(kernel)(&workspace);
    for (unsigned i = 1; i < executor.workers; ++i)
        batch.failed |= CALL(select_kernel)(&others[i - 1], same.data, same.size) != ETCH_OK;
    workspace.executor = NULL;
    if (executor.workers > 1) {
        executor.run(executor.context, run_part, &batch);
        workspace.executor = &executor;
    } else {
        run_part(&batch, 0);
    }
    for (size_t i = 0; i < count; ++i)
        memcpy(outputs + i * ETCH_COUNT, batch.results[i].ETCH_OUTPUTS, sizeof result.ETCH_OUTPUTS);
    free(batch.results);
    free(texts);
    return batch.failed;
}
