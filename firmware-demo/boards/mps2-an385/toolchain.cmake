# SPDX-License-Identifier: Apache-2.0
set(ETCH_CPU_FLAGS "-mcpu=cortex-m3")
include(${CMAKE_CURRENT_LIST_DIR}/../../arm-none-eabi.cmake)
