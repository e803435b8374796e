/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a model that writes: what etch_model.h says, and ETCH_VERB (translate). */
#include "etch_model.h"

/* From `ids` to `target` [capacity]: as many tokens as there is room for. Returns how many, 0 on failure. */
unsigned peer_write(const int32_t* ids, uint32_t count, uint32_t beams, int32_t* target, uint32_t capacity) {
    workspace.beams = (uint8_t)beams;
    if (CALL(JOIN(ETCH_VERB, _tokens))(&workspace, ids, count, target, capacity, &result) != ETCH_OK) return 0;
    return result.count;
}
