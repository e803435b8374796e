/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of a generative model: what etch_model.h says, ETCH_VERB (translate, generate) and ETCH_BEAMS, the most. */
#include "etch_model.h"

/* From `ids` to `target` [capacity]: as many tokens as there is room for. Returns how many, 0 on failure. */
unsigned peer_write(const int32_t* ids, uint32_t count, uint32_t beams, int32_t* target, uint32_t capacity) {
#if ETCH_BEAMS > 1
    workspace.beams = (uint8_t)beams;
#else
    (void)beams;
#endif
    if (CALL(JOIN(ETCH_VERB, _tokens))(&workspace, ids, count, target, capacity, &result) != ETCH_OK) return 0;
    return result.count;
}
