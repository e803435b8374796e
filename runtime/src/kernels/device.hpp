// SPDX-License-Identifier: Apache-2.0
// What the kernels of the CPU and of the GPU share is plain C++ that nvcc compiles for the device.
#pragma once

#if defined(__FAST_MATH__) || defined(__CUDA_FTZ)
#error "the arithmetic contract needs IEEE floats: no fast math"
#endif

#ifdef __CUDACC__
#define ETCH_DEVICE __device__
#else
#define ETCH_DEVICE
#endif
