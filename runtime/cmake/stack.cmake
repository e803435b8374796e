# SPDX-License-Identifier: Apache-2.0
# etch_check_stack(MODEL BUDGET [PROGRAM]): fails the build where a public function of the model can use more stack than
# its header promises. Needs GCC's call graphs, and objects for the machine that builds: tools/stack reads them.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(etch_no_stack_check "only GCC writes the call graph that the check needs")
elseif(CMAKE_CROSSCOMPILING OR NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64)$")
  set(etch_no_stack_check "only done for the machine that builds, x86-64 or AArch64")
elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize|-flto|-O0" OR CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  set(etch_no_stack_check "sanitizers, link-time optimization and -O0 make other frames")
else()
  set(etch_no_stack_check "")
  target_compile_options(etch_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fcallgraph-info=su>)  # X.ci beside X.o
  add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/../../tools/stack ${PROJECT_BINARY_DIR}/tools/stack)
endif()

function(etch_check_stack name budget)
  if(etch_no_stack_check)
    message(STATUS "etch_${name}: stack not checked against its budget: ${etch_no_stack_check}")
    return()
  endif()
  set(report ${CMAKE_CURRENT_BINARY_DIR}/${name}.stack.txt)
  add_custom_command(OUTPUT ${report}
    COMMAND etch-stack ${name} ${budget} ${report} $<TARGET_OBJECTS:etch_${name}> -- $<TARGET_OBJECTS:etch>
    DEPENDS etch-stack etch etch_${name}
    COMMENT "Checking the stack of ${name} against its budget of ${budget} bytes"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(stack-${name} ALL DEPENDS ${report})
  foreach(program IN LISTS ARGN)
    add_dependencies(${program} stack-${name})
  endforeach()
endfunction()
