# SPDX-License-Identifier: Apache-2.0
# ETCH_CUDA=ON: finds the CUDA toolkit, 12.0 or newer, also where nvcc is not in PATH. No GPU is needed to build.
# Included at the top of the project: a language cannot be enabled in a function.
if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
  find_program(CMAKE_CUDA_COMPILER nvcc PATHS $ENV{CUDA_HOME}/bin $ENV{CUDA_PATH}/bin /usr/local/cuda/bin /opt/cuda/bin)
  if(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "error[no-cuda-toolkit] ETCH_CUDA is ON and there is no nvcc: install the CUDA toolkit, or set "
      "CUDACXX to its nvcc")
  endif()
endif()
# Machine code for A100 and H100, and PTX from which the driver makes that of later GPUs.
set(CMAKE_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "GPU architectures that the kernels are compiled for")
set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
set(CMAKE_CUDA_STANDARD 17)
set(CMAKE_CUDA_STANDARD_REQUIRED ON)
set(CMAKE_CUDA_EXTENSIONS OFF)
enable_language(CUDA)
find_package(CUDAToolkit 12.0 REQUIRED)

# Flags of the kernels. The first line is the arithmetic contract (runtime/ARITHMETIC.md): no fused multiply-add,
# correctly rounded division and square root, subnormals kept.
add_library(etch_cuda_flags INTERFACE)
target_link_libraries(etch_cuda_flags INTERFACE etch_flags)
target_compile_options(etch_cuda_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:
    -fmad=false -prec-div=true -prec-sqrt=true -ftz=false
    --expt-relaxed-constexpr
    -Xcompiler=-ffp-contract=off,-fno-exceptions,-fno-stack-protector,-U_FORTIFY_SOURCE,-Wall,-Wextra>)
