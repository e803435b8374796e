// SPDX-License-Identifier: Apache-2.0
// The same in C.
#define _POSIX_C_SOURCE 200809L  // getline()
#include <agnews.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

static etch_agnews_workspace workspace;
static etch_agnews_result result;

int main(void) {
    char* line = NULL;
    size_t capacity = 0;
    ssize_t length;
    workspace.special_tokens = ETCH_SPECIAL_TOKENS_PLAIN_TEXT;  // a [SEP] that somebody typed is text
    while ((length = getline(&line, &capacity, stdin)) > 0) {
        const size_t size = (size_t)length - (line[length - 1] == '\n');
        const etch_status status = etch_agnews_classify(&workspace, line, size, &result);
        if (status != ETCH_OK) {
            fprintf(stderr, "%s\n", etch_agnews_describe(status));
            return 1;
        }
        printf("%s\t%.4f%s\n", etch_agnews_label(result.label).data, result.probability[result.label],
               result.truncated ? "\tcut" : "");
    }
    free(line);
    return 0;
}
