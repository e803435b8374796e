// SPDX-License-Identifier: Apache-2.0
// The values of a text are its words. With two texts the second one's words count.
#pragma once

#include "stub_shared.hpp"

namespace etch {
namespace stub {

inline constexpr Task kTask = Task::regression;
#if defined(STUB_ONE)
inline constexpr std::uint32_t kValueCount = 1;
inline constexpr std::string_view kValueNames[kValueCount] = {kNames[0]};
#else
inline constexpr std::uint32_t kValueCount = 2;
inline constexpr std::string_view kValueNames[kValueCount] = {kNames[6], kNames[4]};
#endif

struct Result {
    float value[kValueCount];
    std::uint32_t tokens;
    bool truncated;
};

inline Status regress(Workspace& workspace, std::string_view text, Result& result) noexcept {
    read_numbers(text, result.value, kValueCount);
    return begin_answer(workspace, text, result);
}

inline Status regress_tokens(Workspace& workspace, const std::int32_t*, const std::uint8_t*, std::uint32_t,
                             Result& result) noexcept {
    return regress(workspace, "", result);
}

inline Status regress_batch(Workspace& workspace, const std::string_view* texts, std::size_t count,
                            Result* results) noexcept {
    return answer_each(regress, workspace, texts, count, results);
}

inline Status regress_pair(Workspace& workspace, std::string_view, std::string_view second, Result& result) noexcept {
    return kPairs ? regress(workspace, second, result) : Status::pair_not_supported;
}

}  // namespace stub
}  // namespace etch
