# SPDX-License-Identifier: Apache-2.0
# GCC for bare Cortex-M. A board's toolchain.cmake sets ETCH_CPU_FLAGS and includes this.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR arm)
set(CMAKE_C_COMPILER arm-none-eabi-gcc)
set(CMAKE_CXX_COMPILER arm-none-eabi-g++)
set(CMAKE_ASM_COMPILER arm-none-eabi-gcc)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)  # there is no C library to link a program with
foreach(language IN ITEMS C CXX ASM)
  set(CMAKE_${language}_FLAGS_INIT "-mthumb ${ETCH_CPU_FLAGS}")
endforeach()
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT -lgcc)  # after all other libraries: what the compiler itself calls
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
