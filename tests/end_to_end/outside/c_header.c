/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls every function of a model's C header and hands the results to c_header_reference.cpp, which compares them with
 * those of the C++ functions. VERB, OUTPUTS, COUNT and NAME_OF (not for embeddings) are the task's. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tiny.h"

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define FUNCTION JOIN(etch_tiny_, VERB)

/* Of c_header_reference.cpp: 1 where C++ says the same. */
int same_result(const char* first, size_t first_length, const char* second, size_t second_length, int plain_text,
                etch_status status, const float* outputs, uint32_t tokens, bool truncated);
int same_encoding(const char* first, size_t first_length, const char* second, size_t second_length, etch_status status,
                  const etch_tiny_encoding* encoding);
int same_texts(etch_text kernel, etch_text usable, etch_text past_the_last);

static etch_tiny_workspace workspace;
static etch_tiny_encoding encoding;

#define CHECK(condition)                                              \
    do {                                                              \
        if (!(condition)) return fprintf(stderr, "%s\n", #condition); \
    } while (0)

/* Steps to the end of what was begun; the last status. */
static etch_status finish(etch_status begun, etch_tiny_result* result) {
    etch_status status = begun == ETCH_OK ? ETCH_IN_PROGRESS : begun;
    while (status == ETCH_IN_PROGRESS)
        status = etch_tiny_step(&workspace, 5000, result);
    return status;
}

static int check_text(const char* text, const char* second) {
    const size_t n = strlen(text);
    const size_t m = second != NULL ? strlen(second) : 0;
    etch_tiny_result result;
    etch_tiny_result by_tokens;
    etch_status status;
    memset(&result, 0, sizeof result);
    for (int plain = 0; plain < 2; ++plain) {
        workspace.special_tokens = plain ? ETCH_SPECIAL_TOKENS_PLAIN_TEXT : ETCH_SPECIAL_TOKENS_RECOGNIZED;
        status = second != NULL ? JOIN(FUNCTION, _pair)(&workspace, text, n, second, m, &result)
                                : FUNCTION(&workspace, text, n, &result);
        CHECK(same_result(text, n, second, m, plain, status, result.OUTPUTS, result.tokens, result.truncated));
        memset(&result, 0, sizeof result);
        status = finish(second != NULL ? etch_tiny_begin_pair(&workspace, text, n, second, m)
                                       : etch_tiny_begin(&workspace, text, n),
                        &result);
        CHECK(same_result(text, n, second, m, plain, status, result.OUTPUTS, result.tokens, result.truncated));
    }
    workspace.special_tokens = ETCH_SPECIAL_TOKENS_RECOGNIZED;
    status = second != NULL ? etch_tiny_encode_pair(&workspace, text, n, second, m, &encoding)
                            : etch_tiny_encode(&workspace, text, n, &encoding);
    CHECK(same_encoding(text, n, second, m, status, &encoding));
    status = JOIN(FUNCTION, _tokens)(&workspace, encoding.ids, encoding.segments, encoding.count, &by_tokens);
    CHECK(same_result(text, n, second, m, 0, status, by_tokens.OUTPUTS, encoding.count, encoding.truncated));
    CHECK(!by_tokens.truncated);
    memset(&by_tokens, 0, sizeof by_tokens);
    status = finish(etch_tiny_begin_tokens(&workspace, encoding.ids, encoding.segments, encoding.count), &by_tokens);
    CHECK(same_result(text, n, second, m, 0, status, by_tokens.OUTPUTS, encoding.count, encoding.truncated));
    return 0;
}

/* More than the C function hands on at a time. */
static int check_batch(void) {
    static const char words[] = "the quick brown fox ran to the dog";
    etch_text texts[20];
    static etch_tiny_result results[20];
    etch_status status;
    size_t i;
    for (i = 0; i < 20; ++i) {
        texts[i].data = words;
        texts[i].size = i;
    }
    status = JOIN(FUNCTION, _batch)(&workspace, texts, 20, results);
    for (i = 0; i < 20; ++i) {
        CHECK(same_result(words, i, NULL, 0, 0, status, results[i].OUTPUTS, results[i].tokens, results[i].truncated));
    }
    return 0;
}

/* As malloc() may give it. */
static int check_alignment(void) {
    char* const memory = malloc(sizeof(etch_tiny_workspace) + 128);
    const int32_t id = 1;
    size_t offset;
    etch_tiny_result result;
    etch_text text = {"the dog", 7};
    CHECK(memory != NULL);
    memset(memory, 0, sizeof(etch_tiny_workspace) + 128);
    for (offset = 8; offset < 64; offset += 8) {
        char* const aligned = memory + (64 - (uintptr_t)memory % 64);
        etch_tiny_workspace* const misaligned = (etch_tiny_workspace*)(void*)(aligned + offset);
        CHECK(FUNCTION(misaligned, "a", 1, &result) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(JOIN(FUNCTION, _pair)(misaligned, "a", 1, "b", 1, &result) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(JOIN(FUNCTION, _batch)(misaligned, &text, 1, &result) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(JOIN(FUNCTION, _tokens)(misaligned, &id, NULL, 1, &result) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(etch_tiny_begin(misaligned, "a", 1) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(etch_tiny_begin_pair(misaligned, "a", 1, "b", 1) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(etch_tiny_begin_tokens(misaligned, &id, NULL, 1) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(etch_tiny_step(misaligned, 1, &result) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(etch_tiny_encode(misaligned, "a", 1, &encoding) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(etch_tiny_encode_pair(misaligned, "a", 1, "b", 1, &encoding) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(etch_tiny_select_kernel(misaligned, "scalar", 6) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(etch_tiny_self_test(misaligned) == ETCH_WORKSPACE_MISALIGNED);
        CHECK(FUNCTION((etch_tiny_workspace*)(void*)aligned, "a", 1, &result) == ETCH_OK);
    }
    free(memory);
    return 0;
}

/* Texts, or their list, among the results of a batch: in those of a later part of it, too. */
static int check_overlaps(void) {
    static etch_tiny_result results[20];
    etch_text texts[20];
    size_t i;
    for (i = 0; i < 20; ++i) {
        texts[i].data = "the dog";
        texts[i].size = 7;
    }
    texts[19].data = (const char*)&results[0];
    CHECK(JOIN(FUNCTION, _batch)(&workspace, texts, 20, results) == ETCH_TEXT_OVERLAPS);
    CHECK(JOIN(FUNCTION, _batch)(&workspace, (const etch_text*)(void*)results, 20, results) == ETCH_TEXT_OVERLAPS);
    CHECK(etch_tiny_encode(&workspace, (const char*)&encoding, 7, &encoding) == ETCH_TEXT_OVERLAPS);
    return 0;
}

int main(void) {
    etch_tiny_result result;
    const int32_t wrong = -1;
    const etch_text nothing = {"", 0};
    char piece[] = "......";
    CHECK(etch_tiny_self_test(&workspace) == ETCH_OK);
    CHECK(check_text("The dog ran to [SEP] the quick brown fox", NULL) == 0);
    CHECK(check_text("", NULL) == 0);
    CHECK(check_text("the dog", "ran") == 0);
    CHECK(check_batch() == 0);
    CHECK(check_alignment() == 0);
    CHECK(check_overlaps() == 0);
    CHECK(etch_tiny_begin(&workspace, "the dog", 7) == ETCH_OK);
    CHECK(JOIN(FUNCTION, _batch)(&workspace, NULL, 0, NULL) == ETCH_OK);
    CHECK(etch_tiny_step(&workspace, 5000, &result) == ETCH_NOT_BEGUN);
    CHECK(check_text("a b c d e f g h i j k l m n o p q r s t u v w x y z a b c d e f g h i j k l m", NULL) == 0);
    CHECK(JOIN(FUNCTION, _tokens)(&workspace, &wrong, NULL, 1, &result) == ETCH_TOKEN_OUT_OF_RANGE);
    CHECK(JOIN(FUNCTION, _tokens)(&workspace, &wrong, NULL, 0, &result) == ETCH_NO_TOKENS);
    CHECK(etch_tiny_step(&workspace, 5000, &result) == ETCH_NOT_BEGUN);
    CHECK(strcmp(etch_tiny_describe(ETCH_OK), "ok") == 0);
    CHECK(etch_tiny_select_kernel(&workspace, "nosuch", 6) == ETCH_KERNEL_UNKNOWN);
    CHECK(etch_tiny_select_kernel(&workspace, "scalar", 6) == ETCH_OK);
    CHECK(same_texts(etch_tiny_kernel(&workspace), etch_tiny_usable_kernel(0), etch_tiny_usable_kernel(1000)));
    CHECK(etch_tiny_piece(-1, piece, sizeof piece) == 0);
    CHECK(etch_tiny_piece(encoding.ids[0], piece, 4) == strlen("[CLS]"));
    CHECK(memcmp(piece, "[CLS.", 5) == 0);
#ifdef ETCH_TINY_PROMPT_COUNT
    CHECK(ETCH_TINY_PROMPT_COUNT == 2 && ETCH_TINY_USUAL_PROMPT == 0);
    CHECK(strcmp(etch_tiny_prompt_name(0).data, "query") == 0 && strcmp(etch_tiny_prompt(0).data, "the cat ") == 0);
    CHECK(strcmp(etch_tiny_prompt_name(1).data, "document") == 0 && etch_tiny_prompt(1).size == 0);
    CHECK(etch_tiny_prompt_name(2).size == 0 && etch_tiny_prompt(2).size == 0);
#endif
#ifdef NAME_OF
    CHECK(NAME_OF(0).size == strlen(NAME_OF(0).data) && NAME_OF(0).size > 0);
    CHECK(NAME_OF(COUNT).size == nothing.size && strcmp(NAME_OF(COUNT).data, nothing.data) == 0);
#else
    CHECK(FUNCTION(&workspace, "the dog", 7, &result) == ETCH_OK && nothing.size == 0);
    CHECK(etch_tiny_similarity(result.embedding, result.embedding) > 0.999f);
#endif
    printf("the same\n");
    return 0;
}
