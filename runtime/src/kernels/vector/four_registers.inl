// SPDX-License-Identifier: Apache-2.0
// Sixteen floats in registers of four, for instruction sets without masked loads and stores. Included inside the
// namespace of such a kernel set.

using Floats = Pair<Pair<Register>>;
using Wide = Floats;  // four chains are enough
