# SPDX-License-Identifier: Apache-2.0
# The kernels and the back end for NVIDIA GPUs. runtime/cuda/*_test.cpp are built twice: as test-cuda, which needs no GPU
# (a host loop in place of a launch, stand-ins for the CUDA runtime and cuBLASLt, of which the headers are needed), and
# with ETCH_CUDA as test-cuda-device.
option(ETCH_CUDA_HOST_TESTS "Test the GPU back end on the host, where CUDA's headers are found" ON)
set(cuda ${CMAKE_CURRENT_SOURCE_DIR}/runtime/cuda)
set(cuda_model ${PROJECT_SOURCE_DIR}/generated/agnews)

if(ETCH_CUDA_HOST_TESTS AND NOT CMAKE_CROSSCOMPILING)
  find_package(CUDAToolkit 12.0 QUIET)
endif()
if(ETCH_CUDA_HOST_TESTS AND CUDAToolkit_FOUND)
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${cuda}/host/*.cpp ${cuda}/stand_in/*.cpp ${PROJECT_SOURCE_DIR}/runtime/src/cuda/*.cpp
    ${cuda_model}/*.cpp ${cuda_model}/*.S)
  etch_add_test(cuda ${cuda_sources})
  target_include_directories(test-cuda PRIVATE ${cuda} ${cuda_model})
  target_include_directories(test-cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
endif()

if(ETCH_CUDA)
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${cuda}/*_test.cpp)
  add_executable(test-cuda-device ${cuda_sources})
  target_include_directories(test-cuda-device PRIVATE ${PROJECT_SOURCE_DIR}/runtime/src ${PROJECT_SOURCE_DIR}/tests)
  target_include_directories(test-cuda-device PRIVATE ${cuda} runtime runtime/kernels)
  target_compile_options(test-cuda-device PRIVATE -O2 -ffp-contract=off -Wall -Wextra -Wconversion)
  target_link_libraries(test-cuda-device PRIVATE etch_agnews_cuda GTest::gtest_main)
  add_test(NAME cuda-device COMMAND test-cuda-device)
endif()
