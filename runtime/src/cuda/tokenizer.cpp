// SPDX-License-Identifier: Apache-2.0
// The code of the tokenizer that models for GPUs have: compute.cpp calls it, and a linker that comes to this library
// has left the model's own behind.
#include "tokenizer/composition.hpp"

ETCH_COMPOSITION(BertTokenizer)
