// SPDX-License-Identifier: Apache-2.0
// The face of a generated model with everything unusual: hostile labels, one segment (two with STUB_PAIRS), a self test
// that fails, a kernel that this CPU cannot run, pieces that are not UTF-8. Tokens are words between bytes <= 0x20.
// The task is that of STUB_MULTI_LABEL, STUB_REGRESSION, STUB_EMBEDDING, or without these one label a text; with
// STUB_ONE the model has one label or one value.
#pragma once

#if defined(STUB_REGRESSION)
#include "stub_regress.hpp"
#elif defined(STUB_EMBEDDING)
#include "stub_embed.hpp"
#elif defined(STUB_MULTI_LABEL)
#include "stub_multi_label.hpp"
#else
#include "stub_single_label.hpp"
#endif
