// SPDX-License-Identifier: Apache-2.0
// What a system that has no more to give refuses.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>

// A limit of the process, RLIMIT_…, lowered for as long as this lives.
class LoweredLimit {
  public:
    LoweredLimit(int resource, rlim_t to) : resource_(resource) {
        EXPECT_EQ(getrlimit(resource, &before_), 0);
        set({to, before_.rlim_max});
    }
    LoweredLimit(const LoweredLimit&) = delete;
    LoweredLimit& operator=(const LoweredLimit&) = delete;
    ~LoweredLimit() { set(before_); }

  private:
    void set(const rlimit& limit) const { EXPECT_EQ(setrlimit(resource_, &limit), 0); }

    int resource_;
    rlimit before_{};
};
