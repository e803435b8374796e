/* SPDX-License-Identifier: Apache-2.0
 *
 * A generated model, whatever its name, under names that do not depend on it. ETCH_HEADER, ETCH_PREFIX (etch_NAME_) and
 * ETCH_SCRATCH (bytes) come from the command line. */
#include <string.h>

#include ETCH_HEADER

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define CALL(name) JOIN(ETCH_PREFIX, name)

/* In etch_threads.cpp. */
etch_executor peer_executor(uint32_t threads, size_t scratch_bytes);

static CALL(workspace) workspace;
static CALL(result) result;
static etch_executor executor = {1, NULL, NULL, NULL};
static char kernel[64];

const char* peer_version(void) {
    return ETCH_VERSION;
}

/* How many threads share every call from now on. */
unsigned peer_threads(uint32_t threads) {
    if (threads > 1) executor = peer_executor(threads, ETCH_SCRATCH);
    if (executor.workers > 1) workspace.executor = &executor;
    return executor.workers;
}

/* 0: every call from now on is computed with this kernel set. */
int peer_select_kernel(const char* name) {
    return (int)CALL(select_kernel)(&workspace, name, strlen(name));
}

const char* peer_kernel(void) {
    const etch_text name = CALL(kernel)(&workspace);
    memcpy(kernel, name.data, name.size < sizeof kernel ? name.size : sizeof kernel - 1);
    return kernel;
}
