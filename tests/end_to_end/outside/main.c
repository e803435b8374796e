// SPDX-License-Identifier: Apache-2.0
#include <agnews.h>
#include <stdio.h>
#include <string.h>

static etch_agnews_workspace workspace;

int main(int argc, char** argv) {
    const char* text = argc > 1 ? argv[1] : "Oil prices climb after the summit";
    etch_agnews_result result;
    etch_status status = etch_agnews_classify(&workspace, text, strlen(text), &result);
    if (status != ETCH_OK) {
        fprintf(stderr, "%s\n", etch_agnews_describe(status));
        return 1;
    }
    printf("%s %.9g\n", etch_agnews_label(result.label).data, result.probability[result.label]);
    return 0;
}
