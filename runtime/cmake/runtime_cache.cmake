# SPDX-License-Identifier: Apache-2.0
# Compiled runtimes that builds share: `etch generate --build` names the folder ETCH_RUNTIME_CACHE, and what is the same for
# all models (the runtime, the hosted library, the programs' common part, the stack checker) is compiled there once.
#
# An entry is a folder of objects, named by a hash of all that decides them: sources, compiler with its version, target and
# own defaults, flags, build type. It is compiled from these in a folder of its own, never taken from a build, and gets its
# name when it is whole. `entry.txt` in it says what it was made of and the hash of each file; both are compared whenever it
# is used, and what differs is compiled again. A lock for each entry lets builds that come meanwhile wait.
set(ETCH_RUNTIME_CACHE "" CACHE PATH "Folder of compiled runtimes that builds share (default: none)")
option(ETCH_RUNTIME_ONLY "Build what an entry of ETCH_RUNTIME_CACHE holds, and no model" OFF)
set(etch_entry "")  # the entry that this build uses

# Sets etch_entry, where there is a cache that this build can use; compiles it where it is missing.
function(etch_find_entry)
  if(NOT ETCH_RUNTIME_CACHE OR ETCH_RUNTIME_ONLY)
    return()
  endif()
  if(CMAKE_CROSSCOMPILING OR CMAKE_TOOLCHAIN_FILE OR CMAKE_CONFIGURATION_TYPES OR CMAKE_CXX_COMPILER_ARG1)
    message(STATUS "the runtime is compiled in this build: cached are those of the usual compiler and one configuration")
    return()
  endif()
  etch_describe_build(made_of)
  string(SHA256 key "${made_of}")
  string(SUBSTRING ${key} 0 32 key)
  set(entry ${ETCH_RUNTIME_CACHE}/${key})
  file(LOCK ${entry}.lock TIMEOUT 1800 RESULT_VARIABLE unlocked)
  if(unlocked)
    message(STATUS "the runtime is compiled in this build: ${entry}.lock: ${unlocked}")
    return()
  endif()
  etch_entry_is_whole(${entry} "${made_of}" whole)
  if(NOT whole)
    etch_compile_entry(${entry} "${made_of}")
    etch_entry_is_whole(${entry} "${made_of}" whole)
  endif()
  file(TOUCH ${entry}.lock)  # when it was last used
  file(LOCK ${entry}.lock RELEASE)
  if(whole)
    message(STATUS "the compiled runtime is ${entry}")
    set(etch_entry ${entry} PARENT_SCOPE)
  endif()
endfunction()

# The objects of a target in the entry that this build uses; without one the sources themselves.
function(etch_compiled out target)
  set(files ${ARGN})
  if(etch_entry)
    list(TRANSFORM files PREPEND ${etch_entry}/${target}.dir/)
    list(TRANSFORM files APPEND .o)
  endif()
  set(${out} ${files} PARENT_SCOPE)
endfunction()

# All that decides the bytes of an entry, as text.
function(etch_describe_build out)
  set(text "etch ${ETCH_VERSION}, CMake ${CMAKE_VERSION}\n")
  foreach(variable IN LISTS etch_entry_variables)
    string(APPEND text "${variable}=${${variable}}\n")
  endforeach()
  foreach(variable CPATH CPLUS_INCLUDE_PATH COMPILER_PATH GCC_EXEC_PREFIX LIBRARY_PATH SOURCE_DATE_EPOCH)
    string(APPEND text "${variable}=$ENV{${variable}}\n")
  endforeach()
  # Version, target, and what flags as -march=native stand for on this machine.
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS}")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} ${flags} -### -S -x c++ /dev/null -o runtime.s
    WORKING_DIRECTORY / OUTPUT_VARIABLE compiler ERROR_VARIABLE compiler)
  string(APPEND text "${compiler}\n")
  file(GLOB_RECURSE sources RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/*
    ${PROJECT_SOURCE_DIR}/tools/cli/* ${PROJECT_SOURCE_DIR}/tools/stack/*)
  list(FILTER sources EXCLUDE REGEX "\\.md$")
  etch_hashes(hashes ${PROJECT_SOURCE_DIR} CMakeLists.txt ${sources})
  set(${out} "${text}${hashes}" PARENT_SCOPE)
endfunction()

# What etch_describe_build says of the build and etch_compile_entry hands over.
string(TOUPPER "${CMAKE_BUILD_TYPE}" etch_build_type)
set(etch_entry_variables CMAKE_CXX_COMPILER CMAKE_BUILD_TYPE CMAKE_CXX_FLAGS CMAKE_CXX_FLAGS_${etch_build_type}
  CMAKE_EXE_LINKER_FLAGS CMAKE_INTERPROCEDURAL_OPTIMIZATION CMAKE_CXX_COMPILER_TARGET CMAKE_SYSROOT)

function(etch_hashes out folder)
  set(text "")
  foreach(file IN LISTS ARGN)
    set(hash "nothing")  # a link that leads nowhere
    if(EXISTS ${folder}/${file})
      file(SHA256 ${folder}/${file} hash)
    endif()
    string(APPEND text "${hash} ${file}\n")
  endforeach()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# What entry.txt has to say.
function(etch_describe_entry out entry made_of)
  file(GLOB_RECURSE files RELATIVE ${entry} ${entry}/*)
  list(REMOVE_ITEM files entry.txt)
  etch_hashes(hashes ${entry} ${files})
  set(${out} "${made_of}\n${hashes}" PARENT_SCOPE)
endfunction()

function(etch_entry_is_whole entry made_of out)
  set(${out} FALSE PARENT_SCOPE)
  if(EXISTS ${entry}/entry.txt AND NOT IS_DIRECTORY ${entry}/entry.txt)
    file(READ ${entry}/entry.txt said)
    etch_describe_entry(is ${entry} "${made_of}")
    if(said STREQUAL is)
      set(${out} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

# Compiles beside it, then gives it its name. The lock is held. What cannot be compiled or written here leaves no entry:
# this build goes on without, and shows the error if it is one of the sources.
function(etch_compile_entry entry made_of)
  file(GLOB stopped ${entry}.*.part)
  file(REMOVE_RECURSE ${entry} ${stopped})
  string(RANDOM LENGTH 12 part)
  set(part ${entry}.${part}.part)
  set(options -DCMAKE_CXX_COMPILER_LAUNCHER=)  # ccache keeps no call graphs, which are in an entry
  foreach(variable IN LISTS etch_entry_variables ITEMS CMAKE_MAKE_PROGRAM)
    list(APPEND options "-D${variable}=${${variable}}")
  endforeach()
  cmake_host_system_information(RESULT processors QUERY NUMBER_OF_LOGICAL_CORES)
  message(STATUS "Compiling the runtime: later builds take it from ${ETCH_RUNTIME_CACHE}")
  execute_process(COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${part}/build -G ${CMAKE_GENERATOR} ${options}
      -DETCH_RUNTIME_ONLY=ON -DETCH_INSTALL=OFF
    RESULT_VARIABLE failed)
  if(NOT failed)
    execute_process(COMMAND ${CMAKE_COMMAND} --build ${part}/build --parallel ${processors} --target runtime-only
      RESULT_VARIABLE failed)
  endif()
  if(NOT failed)
    foreach(target runtime/CMakeFiles/etch.dir runtime/CMakeFiles/etch_hosted.dir tools/cli/CMakeFiles/etch_cli.dir)
      file(COPY ${part}/build/${target} DESTINATION ${part}/entry FILES_MATCHING REGEX "\\.(o|ci)$")
    endforeach()
    file(GLOB checker ${part}/build/tools/stack/etch-stack)
    file(COPY ${checker} DESTINATION ${part}/entry)
    etch_describe_entry(said ${part}/entry "${made_of}")
    file(WRITE ${part}/entry/entry.txt "${said}")
    file(RENAME ${part}/entry ${entry} RESULT failed)
  endif()
  file(REMOVE_RECURSE ${part})
  if(failed)
    message(STATUS "the runtime is compiled in this build: it could not be kept: ${failed}")
  endif()
endfunction()
