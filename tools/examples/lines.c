// SPDX-License-Identifier: Apache-2.0
// The same in C.
#include <agnews.h>
#include <stdio.h>
#include <string.h>

static etch_agnews_workspace workspace;
static etch_agnews_result result;

int main(void) {
    char line[4096];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const size_t size = strcspn(line, "\n");
        const etch_status status = etch_agnews_classify(&workspace, line, size, &result);
        if (status != ETCH_OK) {
            fprintf(stderr, "%s\n", etch_agnews_describe(status));
            return 1;
        }
        printf("%s\t%.4f%s\n", etch_agnews_label(result.label).data, result.probability[result.label],
               result.truncated ? "\tcut" : "");
    }
    return 0;
}
