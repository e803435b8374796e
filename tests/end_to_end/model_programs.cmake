# SPDX-License-Identifier: Apache-2.0
# model-programs.json in the build: how a model's program is linked and its stack checked. model_build.py does the same with
# models that tests generate; how their sources are compiled it takes from compile_commands.json.
if(NOT TARGET etch_agnews_small OR NOT ETCH_BUILD_PROGRAMS)
  return()
endif()

# A list of generator expressions as a JSON array of strings.
function(json_array out items)
  set(${out} "[\"$<JOIN:${items},\"$<COMMA> \">\"]" PARENT_SCOPE)
endfunction()

separate_arguments(flags NATIVE_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELEASE} ${CMAKE_EXE_LINKER_FLAGS}")
separate_arguments(every NATIVE_COMMAND "${CMAKE_CXX_FLAGS}")
json_array(every "${every}")
json_array(launcher "${CMAKE_CXX_COMPILER_LAUNCHER}")
json_array(linker "${CMAKE_CXX_COMPILER};${flags};-Wl$<COMMA>--gc-sections")
json_array(program "$<FILTER:$<TARGET_OBJECTS:etch_cli>,EXCLUDE,[.][gp]ch$>")  # CMake counts compiled headers among them
json_array(libraries "$<TARGET_FILE:etch_hosted>;$<TARGET_FILE:etch>")
set(stack "[]")
if(TARGET etch-stack)
  json_array(stack "$<TARGET_FILE:etch-stack>;$<TARGET_OBJECTS:etch>")
endif()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/model-programs.json CONTENT "{
  \"launcher\": ${launcher},
  \"archiver\": \"${CMAKE_AR}\",
  \"flags\": ${every},
  \"linker\": ${linker},
  \"program\": ${program},
  \"libraries\": ${libraries},
  \"stack\": ${stack}
}
")
