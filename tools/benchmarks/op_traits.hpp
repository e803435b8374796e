// SPDX-License-Identifier: Apache-2.0
// What a runner can tell of an op by its members, for those that count multiplications.
#pragma once

#include <type_traits>
#include <utility>

namespace etch {

template <class Op, class = void>
struct IsLinear : std::false_type {};
template <class Op>
struct IsLinear<Op, std::void_t<decltype(std::declval<const Op&>().weights.outputs)>> : std::true_type {};

template <class Op, class = void>
struct IsAttention : std::false_type {};
template <class Op>
struct IsAttention<Op, std::void_t<decltype(std::declval<const Op&>().score_scale)>> : std::true_type {};

}  // namespace etch
