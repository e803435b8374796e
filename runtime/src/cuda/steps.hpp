// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "status_of.hpp"

namespace etch {
inline namespace ETCH_ABI_NAMESPACE {
namespace cuda {

// Calls that follow each other: after one that failed the others are not made. Keeps the first reason.
class Steps {
  public:
    template <class Call>
    Steps& then(Call call) noexcept {
        if (status_ == Status::ok) status_ = as_status(call());
        return *this;
    }

    // What has to be done in any case.
    template <class Call>
    Steps& always(Call call) noexcept {
        const Status status = as_status(call());
        if (status_ == Status::ok) status_ = status;
        return *this;
    }

    bool ok() const noexcept { return status_ == Status::ok; }
    Status status() const noexcept { return status_; }

  private:
    static Status as_status(Status status) noexcept { return status; }
    template <class Error>
    static Status as_status(Error error) noexcept {
        return status_of(error);
    }

    Status status_ = Status::ok;
};

}  // namespace cuda
}  // namespace ETCH_ABI_NAMESPACE
}  // namespace etch
