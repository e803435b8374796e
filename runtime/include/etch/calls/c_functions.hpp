// SPDX-License-Identifier: Apache-2.0
// What the C functions of every model share: their structs lie where those of the C++ functions lie, texts and statuses
// are handed through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "etch/calls/memory.hpp"
#include "etch/calls/turn.hpp"
#include "etch/etch.h"
#include "etch/status.hpp"
#include "etch/text_pair.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace c_functions {

// Members that not every model's struct has in C.
template <class C, class Cpp>
constexpr auto same_beams(int) noexcept -> decltype(sizeof C::beams != 0) {
    return offsetof(C, beams) == offsetof(Cpp, beams);
}
template <class C, class Cpp>
constexpr auto same_regions(int) noexcept -> decltype(sizeof C::regions != 0) {
    return offsetof(C, regions) == offsetof(Cpp, regions) && sizeof C::regions == sizeof Cpp::regions;
}
template <class C, class Cpp>
constexpr auto same_sampling(int) noexcept -> decltype(sizeof C::sampling != 0) {
    return offsetof(C, sampling) == offsetof(Cpp, sampling);
}
template <class C, class Cpp>
constexpr bool same_beams(long) noexcept {
    return true;
}
template <class C, class Cpp>
constexpr bool same_regions(long) noexcept {
    return true;
}
template <class C, class Cpp>
constexpr bool same_sampling(long) noexcept {
    return true;
}

template <class C, class Cpp>
constexpr bool same_workspace() noexcept {
    return sizeof(C) == sizeof(Cpp) && alignof(C) == alignof(Cpp) &&
           offsetof(C, special_tokens) == offsetof(Cpp, special_tokens) &&
           offsetof(C, max_target) == offsetof(Cpp, max_target) && offsetof(C, in_use) == offsetof(Cpp, in_use) &&
           sizeof(C::in_use) == sizeof(Cpp::in_use) && offsetof(C, kernels) == offsetof(Cpp, kernels) &&
           offsetof(C, executor) == offsetof(Cpp, executor) && offsetof(C, cursor) == offsetof(Cpp, cursor) &&
           offsetof(C, arena) == offsetof(Cpp, arena) && same_beams<C, Cpp>(0) && same_regions<C, Cpp>(0) &&
           same_sampling<C, Cpp>(0);
}

// But for what a task adds.
template <class C, class Cpp>
constexpr bool same_result() noexcept {
    return sizeof(C) == sizeof(Cpp) && offsetof(C, tokens) == offsetof(Cpp, tokens) &&
           offsetof(C, truncated) == offsetof(Cpp, truncated);
}

template <class C, class Cpp>
constexpr bool same_encoding() noexcept {
    return sizeof(C) == sizeof(Cpp) && offsetof(C, segments) == offsetof(Cpp, segments) &&
           offsetof(C, offsets) == offsetof(Cpp, offsets) && offsetof(C, count) == offsetof(Cpp, count) &&
           offsetof(C, truncated) == offsetof(Cpp, truncated) && offsetof(C, cut_word) == offsetof(Cpp, cut_word);
}

// Arguments become the function's parameters: {text, length} a std::string_view.
template <class T>
struct SameType {
    using type = T;
};

inline etch_status c(Status status) noexcept {
    return static_cast<etch_status>(status);
}

inline etch_text c(std::string_view text) noexcept {
    return {text.data(), text.size()};
}

// Whether a workspace can lie there: C may have it anywhere that malloc() gives.
template <class Workspace>
bool is_place_for(const void* workspace) noexcept {
    return reinterpret_cast<std::uintptr_t>(workspace) % alignof(Workspace) == 0;
}

// Calls a C++ function on the workspace. Inlined, so that no function is called through a pointer: the check of the
// stack would have to follow it from everywhere.
template <class Workspace, class... Parameters>
[[gnu::always_inline]] inline etch_status call(Status (&function)(Workspace&, Parameters...) noexcept, void* workspace,
                                               typename SameType<Parameters>::type... arguments) noexcept {
    if (!is_place_for<Workspace>(workspace)) return ETCH_WORKSPACE_MISALIGNED;
    return c(function(*static_cast<Workspace*>(workspace), arguments...));
}

inline std::string_view cpp_text(const etch_text& text) noexcept {
    return {text.data, text.size};
}
inline TextPair cpp_text(const etch_text_pair& pair) noexcept {
    return {cpp_text(pair.first), cpp_text(pair.second)};
}

// The same for a batch, of some elements at a time: C's have a layout of their own, of which cpp(element) makes that of
// C++. overlap(memory) says whether what is read has a byte there. Nobody gets in between: the workspace is lent to
// each of the calls.
template <class Workspace, class Element, class CElement, class Result, class Cpp, class Overlap>
[[gnu::always_inline]] inline etch_status call_in_parts(
    Status (&function)(Workspace&, const Element*, std::size_t, Result*) noexcept, void* workspace,
    const CElement* elements, std::size_t count, Result* results, const Cpp& cpp, const Overlap& overlap) noexcept {
    if (count == 0) return call(function, workspace, nullptr, 0, results);  // null, perhaps: lent to nobody
    if (!is_place_for<Workspace>(workspace)) return ETCH_WORKSPACE_MISALIGNED;
    const calls::Turn turn{static_cast<Workspace*>(workspace)->in_use};
    if (!turn) return c(turn.refusal());
    turn.lend(results);
    etch_status status = call(function, workspace, nullptr, 0, results);  // whatever comes: ends a call in steps
    const auto& memory = *static_cast<const Workspace*>(workspace);
    if (status == ETCH_OK &&
        (overlap(Written{results, count * sizeof *results}) || calls::in_memory_of(memory, overlap)))
        status = ETCH_TEXT_OVERLAPS;

    constexpr std::size_t kAtATime = 8;
    Element some[kAtATime];
    for (std::size_t done = 0; status == ETCH_OK && done < count; done += kAtATime) {
        const std::size_t taken = count - done < kAtATime ? count - done : kAtATime;
        for (std::size_t i = 0; i < taken; ++i)
            some[i] = cpp(elements[done + i]);
        turn.lend(results + done);
        status = call(function, workspace, some, taken, results + done);
    }
    return status;
}

// Of texts or pairs.
template <class Workspace, class Text, class CText, class Result>
[[gnu::always_inline]] inline etch_status call_batch(Status (&function)(Workspace&, const Text*, std::size_t,
                                                                        Result*) noexcept,
                                                     void* workspace, const CText* texts, std::size_t count,
                                                     Result* results) noexcept {
    return call_in_parts(
        function, workspace, texts, count, results, [](const CText& text) { return cpp_text(text); },
        [&](const Written& memory) { return holds_one(memory, texts, count); });
}

}  // namespace c_functions
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
