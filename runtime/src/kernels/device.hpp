// SPDX-License-Identifier: Apache-2.0
// What the kernels of the CPU and of the GPU share is plain C++ that nvcc compiles for the device.
#pragma once

#ifdef __CUDACC__
#define ETCH_DEVICE __device__
// Before a loop of dependent additions: loads of several turns are under way at once.
#define ETCH_DEVICE_UNROLL _Pragma("unroll 16")
// Before a loop over values that must be in registers, or whose loads must be under way before the first is used.
#define ETCH_DEVICE_UNROLL_ALL _Pragma("unroll")
#else
#define ETCH_DEVICE
#define ETCH_DEVICE_UNROLL
#define ETCH_DEVICE_UNROLL_ALL
#endif
