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
  # What there is in place of a GPU.
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${cuda}/host/*.cpp ${cuda}/stand_in/*.cpp)
  list(FILTER cuda_sources EXCLUDE REGEX "_test\\.cpp$")
  add_library(etch_cuda_stand_in STATIC ${cuda_sources})
  target_include_directories(etch_cuda_stand_in
    PUBLIC ${PROJECT_SOURCE_DIR}/runtime/include ${PROJECT_SOURCE_DIR}/runtime/src ${cuda})
  target_include_directories(etch_cuda_stand_in SYSTEM PUBLIC ${CUDAToolkit_INCLUDE_DIRS})
  target_compile_options(etch_cuda_stand_in PRIVATE -O2 -ffp-contract=off -Wall -Wextra -Wconversion)

  # libetch_cuda.a without the kernels.
  file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/runtime/src/cuda/*.cpp)
  add_library(etch_cuda_on_host STATIC ${cuda_sources})
  target_link_libraries(etch_cuda_on_host PUBLIC etch_cuda_stand_in PRIVATE etch_flags)

  file(GLOB cuda_sources CONFIGURE_DEPENDS ${cuda}/stand_in/*_test.cpp ${cuda_model}/*.cpp ${cuda_model}/*.S)
  etch_add_test(cuda ${cuda_sources})
  target_include_directories(test-cuda PRIVATE ${cuda_model})
  target_link_libraries(test-cuda PRIVATE etch_cuda_on_host)

  # The default model's program and its benchmark over the stand-ins, for the end-to-end tests.
  if(ETCH_BUILD_PROGRAMS AND TARGET etch_agnews)
    set(stand_in ${CMAKE_CURRENT_SOURCE_DIR}/end_to_end/models/cuda)
    set(cli ${PROJECT_SOURCE_DIR}/tools/cli)
    set(bench ${PROJECT_SOURCE_DIR}/tools/benchmarks/cuda)
    add_library(etch_agnews_cuda_on_host OBJECT ${cuda_model}/agnews_cuda.cpp)
    target_link_libraries(etch_agnews_cuda_on_host PRIVATE etch_agnews etch_flags)
    add_executable(stand-in-classify ${cli}/model.cpp ${cli}/cuda/cuda_model.cpp)
    target_include_directories(stand-in-classify PRIVATE ${cli})
    target_compile_definitions(stand-in-classify PRIVATE ETCH_MODEL=agnews ETCH_MODEL_HEADER="agnews.hpp"
      ETCH_MODEL_CUDA_HEADER="agnews_cuda.hpp" ETCH_TASK_HEADER="tasks/classify.hpp" ETCH_PROGRAM="stand-in-classify")
    target_link_libraries(stand-in-classify PRIVATE etch_cli $<TARGET_OBJECTS:etch_agnews_cuda_on_host> etch_cuda_on_host etch_agnews
      etch_hosted)
    add_executable(stand-in-bench-cuda ${bench}/main.cpp ${bench}/measure.cpp ${bench}/model.cpp ${bench}/passes.cpp
      ${bench}/table.cpp ${stand_in}/spare_kernels.cpp)
    target_include_directories(stand-in-bench-cuda PRIVATE ${bench})
    target_compile_options(stand-in-bench-cuda PRIVATE -O2 -Wall -Wextra -Wconversion)
    target_compile_definitions(stand-in-bench-cuda PRIVATE ETCH_MODEL=agnews ETCH_MODEL_CUDA_SOURCE="agnews_cuda.cpp")
    target_link_libraries(stand-in-bench-cuda PRIVATE etch_cuda_on_host etch_agnews)
  endif()
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
