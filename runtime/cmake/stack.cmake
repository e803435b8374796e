# SPDX-License-Identifier: Apache-2.0
# etch_check_stack(MODEL BUDGET [PROGRAM...]): fails the build where a public function of the model can use more stack than
# its header promises.
# etch_check_program_stack(PROGRAM BUDGET LIBRARY... [LINKER_SYMBOLS symbol...]): the same for all functions of a program
# without an operating system, made of its own objects, of these libraries and of the runtime; with the vector table, for
# the whole of it from reset on, interrupts included. What the linker script defines is named, since no object has it.
# Leaves PROGRAM.stack.txt beside the program.
# Both need GCC's call graphs, which tools/stack reads; where they cannot be done they say so.
find_program(ETCH_HOST_CXX NAMES c++ g++ clang++ NO_CMAKE_FIND_ROOT_PATH DOC "Compiler for tools of the build itself")
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(etch_no_stack_check "only GCC writes the call graph that the check needs")
elseif(WIN32)
  set(etch_no_stack_check "only done for objects in the ELF format")
elseif(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|aarch64|arm64|arm.*)$")
  set(etch_no_stack_check "only done for x86-64, AArch64 and ARM")
elseif(CMAKE_CROSSCOMPILING AND NOT ETCH_HOST_CXX)
  set(etch_no_stack_check "the checker needs a compiler for the machine that builds")
elseif(CMAKE_CXX_FLAGS MATCHES "-fsanitize|-flto|-O0" OR CMAKE_INTERPROCEDURAL_OPTIMIZATION)
  set(etch_no_stack_check "sanitizers, link-time optimization and -O0 make other frames")
elseif(CMAKE_CXX_FLAGS MATCHES "-fno-omit-frame-pointer")  # a profiler's only way through code without unwind tables
  set(etch_no_stack_check "frame pointers make larger frames")
else()
  set(etch_no_stack_check "")
  target_compile_options(etch_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fcallgraph-info=su>)  # X.ci beside X.o
  if(etch_entry)
    add_executable(etch-stack IMPORTED GLOBAL)
    set_target_properties(etch-stack PROPERTIES IMPORTED_LOCATION ${etch_entry}/etch-stack)
  else()
    add_subdirectory(${CMAKE_CURRENT_LIST_DIR}/../../tools/stack ${PROJECT_BINARY_DIR}/tools/stack)
  endif()
endif()

function(etch_check_stack name budget)
  if(etch_no_stack_check)
    message(STATUS "etch_${name}: stack not checked against its budget: ${etch_no_stack_check}")
    return()
  endif()
  set(report ${CMAKE_CURRENT_BINARY_DIR}/${name}.stack.txt)
  set(objects $<TARGET_OBJECTS:etch_${name}>)
  set(tokenizer /${name}_tokenizer[.]cpp)  # what the model calls of it, not what a user does
  add_custom_command(OUTPUT ${report}
    COMMAND etch-stack ${name} ${budget} ${report} $<FILTER:${objects},EXCLUDE,${tokenizer}> --
      $<FILTER:${objects},INCLUDE,${tokenizer}> $<TARGET_OBJECTS:etch> $<TARGET_PROPERTY:etch,ETCH_OBJECTS>
    DEPENDS etch-stack etch etch_${name}
    COMMENT "Checking the stack of ${name} against its budget of ${budget} bytes"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(stack-${name} ALL DEPENDS ${report})
  foreach(program IN LISTS ARGN)
    add_dependencies(${program} stack-${name})
  endforeach()
endfunction()

function(etch_check_program_stack program budget)
  if(etch_no_stack_check)
    message(STATUS "${program}: stack not checked against its budget: ${etch_no_stack_check}")
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 stack "" "" "LINKER_SYMBOLS")
  set(libraries ${stack_UNPARSED_ARGUMENTS})
  list(REMOVE_ITEM libraries etch)
  list(TRANSFORM libraries REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND etch-stack ${program} ${budget} $<TARGET_FILE_DIR:${program}>/${program}.stack.txt
            $<TARGET_OBJECTS:${program}> ${objects} -- $<TARGET_OBJECTS:etch> -- ${stack_LINKER_SYMBOLS}
    COMMENT "Checking the stack of ${program} against its budget of ${budget} bytes"
    COMMAND_EXPAND_LISTS VERBATIM)
  add_dependencies(${program} etch-stack)
endfunction()
