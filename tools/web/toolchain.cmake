# SPDX-License-Identifier: Apache-2.0
# clang for WebAssembly with 128-bit vectors, and the headers and libraries of WASI: a C library that asks its system for
# nothing unless a program opens files. On Debian: apt-get install clang lld llvm wasi-libc libc++-dev-wasm32
# libclang-rt-dev-wasm32
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
foreach(language IN ITEMS C CXX ASM)
  set(CMAKE_${language}_COMPILER_TARGET wasm32-wasi)
  set(CMAKE_${language}_FLAGS_INIT "-msimd128")
endforeach()
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_ASM_COMPILER clang)
set(CMAKE_AR llvm-ar)
set(CMAKE_RANLIB llvm-ranlib)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # a program would have a main() and ask for the system's functions
