// SPDX-License-Identifier: Apache-2.0
#include "faults.hpp"

#include <map>
#include <mutex>
#include <string>

namespace etch_stand_in {
namespace {

struct State {
    std::mutex mutex;
    Fault fault;
    std::uint64_t calls = 0;
    std::map<std::string, std::uint64_t> by_name;
    const char* failed = nullptr;
    Machine machine;
    Alive alive;
};

State& state() {
    static State only;
    return only;
}

bool fails(const char* name, bool may_stay) {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    const bool failed_before = s.failed != nullptr;
    ++s.by_name[name];
    if (++s.calls == s.fault.at) {
        s.failed = name;
        return true;
    }
    return may_stay && failed_before && s.fault.sticky;
}

}  // namespace

void set_fault(const Fault& fault) {
    state().fault = fault;
    state().calls = 0;
    state().by_name.clear();
    state().failed = nullptr;
}

std::uint64_t calls() {
    return state().calls;
}

std::uint64_t calls_of(const char* name) {
    return state().by_name[name];
}

const char* failed_call() {
    return state().failed;
}

cudaError_t enter_cuda(const char* name) {
    return fails(name, true) ? state().fault.cuda : cudaSuccess;
}

cublasStatus_t enter_library(const char* name) {
    return fails(name, false) ? state().fault.library : CUBLAS_STATUS_SUCCESS;
}

void set_machine(const Machine& machine) {
    state().machine = machine;
}

const Machine& machine() {
    return state().machine;
}

Alive& alive() {
    return state().alive;
}

}  // namespace etch_stand_in
