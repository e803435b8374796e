// SPDX-License-Identifier: Apache-2.0
// Stand-ins for the CUDA runtime and cuBLASLt on a machine without a GPU: device memory is host memory that only
// submitted work may touch, streams run their work at once or record it while they are captured, products are loops.
// Every call is counted and can be made to fail.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace etch_stand_in {

// What the n-th call from now on reports, counted from 1; 0: none fails.
struct Fault {
    std::uint64_t at = 0;
    cudaError_t cuda = cudaErrorUnknown;                    // where it is a call of the runtime
    cublasStatus_t library = CUBLAS_STATUS_INTERNAL_ERROR;  // where it is one of cuBLASLt
    bool sticky = false;                                    // and every call of the runtime after it
};

void set_fault(const Fault& fault);
std::uint64_t calls();  // since set_fault()
std::uint64_t calls_of(const char* name);
const char* failed_call();  // name of the call that failed, null: none did

// For the stand-ins: counts a call, returns what it has to report.
cudaError_t enter_cuda(const char* name);
cublasStatus_t enter_library(const char* name);

// What a machine has; set_machine({}) restores the default.
struct Machine {
    int devices = 1;
    int driver_version = 13000;  // 0: none installed
    int capability_major = 9;
    int capability_minor = 0;
    std::size_t memory_bytes = std::size_t{1} << 32;
};
void set_machine(const Machine& machine);
const Machine& machine();

// What is allocated now, by kind: all 0 after everything is closed.
struct Alive {
    std::uint64_t device_allocations = 0;
    std::uint64_t device_bytes = 0;
    std::uint64_t host_allocations = 0;
    std::uint64_t host_bytes = 0;
    std::uint64_t streams = 0;
    std::uint64_t graphs = 0;
    std::uint64_t executables = 0;
    std::uint64_t libraries = 0;
    std::uint64_t taken = 0;  // allocations ever made, of either kind

    std::uint64_t objects() const {
        return device_allocations + host_allocations + streams + graphs + executables + libraries;
    }
};
Alive& alive();

}  // namespace etch_stand_in
