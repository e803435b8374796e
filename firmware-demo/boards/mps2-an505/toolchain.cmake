# SPDX-License-Identifier: Apache-2.0
set(ETCH_CPU_FLAGS "-mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16")
include(${CMAKE_CURRENT_LIST_DIR}/../../arm-none-eabi.cmake)
