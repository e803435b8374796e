# SPDX-License-Identifier: Apache-2.0
# etch_add_model(LIBRARY CHECKPOINT folder [NAME n] [RECIPE w8a8|w7a8|w4a8|fp32] [EMBEDDING_BITS 8|4] [BITS place=n,...]
#   [CALIBRATE file] [SMOOTH file] [MAX_TOKENS n] [MAX_TARGET n] [BEAMS n] [LANGUAGES from,to]
#   [POOLING mean|cls|max|last] [TASK zero-shot|summarize] [TARGET host|m-profile] [TABLES incbin|c] [GPU]
#   [REGIONS name=size...])
# Static library LIBRARY: the model NAME (default: LIBRARY), generated from a checkpoint folder when the project is built,
# and again when the checkpoint, an option or the generator changes. With GPU also LIBRARY_cuda, the same on an NVIDIA GPU,
# of an etch that was built with ETCH_CUDA. Options as of `etch generate`. The generator runs on
# the machine that builds, also under a cross toolchain, with the Python that CMake finds, or ETCH_PYTHON.
# The stack budget in the header is checked only where etch's own build makes the model.
set(ETCH_PYTHON "" CACHE FILEPATH "Python for etch_add_model (default: the one that CMake finds)")
# The folder that holds codegen/: the checkout, or what was installed of it.
set_property(GLOBAL PROPERTY ETCH_GENERATOR ${ETCH_GENERATOR})

# A macro, for the tables are assembler and a language is enabled for the caller's folder.
macro(etch_add_model)
  if(NOT CMAKE_ASM_COMPILE_OBJECT)
    enable_language(ASM)
  endif()
  etch_add_model_library(${ARGV})
endmacro()

function(etch_add_model_library library)
  set(options RECIPE EMBEDDING_BITS BITS MAX_TOKENS MAX_TARGET BEAMS LANGUAGES POOLING TASK TARGET TABLES)
  cmake_parse_arguments(PARSE_ARGV 1 model "GPU" "CHECKPOINT;NAME;CALIBRATE;SMOOTH;${options}" "REGIONS")
  if(model_UNPARSED_ARGUMENTS OR model_KEYWORDS_MISSING_VALUES OR NOT model_CHECKPOINT)
    message(FATAL_ERROR "etch_add_model(${ARGV}): expected LIBRARY CHECKPOINT folder, then NAME, CALIBRATE, SMOOTH or "
      "${options}, each with a value, GPU or REGIONS")
  endif()
  get_filename_component(checkpoint ${model_CHECKPOINT} ABSOLUTE)
  if(NOT EXISTS ${checkpoint}/config.json AND NOT EXISTS ${checkpoint}/head.json
     AND NOT EXISTS ${checkpoint}/modules.json)
    message(FATAL_ERROR "etch_add_model(${library}): ${checkpoint} holds neither config.json nor "
      "head.json nor modules.json: not a checkpoint folder")
  endif()
  set(name ${library})
  if(model_NAME)
    set(name ${model_NAME})
  endif()
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "etch_add_model(${library}): '${name}' is not the name of a model: choose one with NAME")
  endif()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/etch_models/${name})
  set(command generate ${checkpoint} --out ${folder} --name ${name})
  foreach(option IN LISTS options)
    if(DEFINED model_${option})
      string(TOLOWER ${option} flag)
      string(REPLACE _ - flag ${flag})
      list(APPEND command --${flag} ${model_${option}})
    endif()
  endforeach()
  foreach(region IN LISTS model_REGIONS)
    list(APPEND command --region ${region})
  endforeach()
  set(tables ${folder}/${name}_tables.S ${folder}/${name}.tables)
  if(model_TABLES STREQUAL "c")
    set(tables ${folder}/${name}_tables.cpp)
  endif()
  set(sources ${folder}/${name}.cpp ${folder}/${name}_c.cpp ${folder}/${name}_self_test.cpp
    ${folder}/${name}_tokenizer.cpp)
  set(headers ${folder}/${name}.hpp ${folder}/${name}.h ${folder}/${name}_weights.hpp)

  set(cuda_source "")
  if(model_GPU)
    if(NOT TARGET etch::cuda)
      message(FATAL_ERROR "etch_add_model(${library}): GPU needs an etch that was built with ETCH_CUDA, and the CUDA toolkit")
    endif()
    list(APPEND command --gpu)
    set(cuda_source ${folder}/${name}_cuda.cpp)
    list(APPEND headers ${folder}/${name}_cuda.hpp)
  endif()

  etch_find_python(python)
  get_property(generator GLOBAL PROPERTY ETCH_GENERATOR)
  # Not in hidden folders: a cloned checkpoint has a .git.
  file(GLOB inputs CONFIGURE_DEPENDS LIST_DIRECTORIES false ${checkpoint}/* ${checkpoint}/[!.]*/*)
  file(GLOB_RECURSE sources_of_generator CONFIGURE_DEPENDS ${generator}/codegen/*.py ${generator}/codegen/*.j2)
  foreach(option IN ITEMS CALIBRATE SMOOTH)
    if(model_${option})
      get_filename_component(texts ${model_${option}} ABSOLUTE)
      string(TOLOWER ${option} flag)
      list(APPEND command --${flag} ${texts})
      list(APPEND inputs ${texts})
    endif()
  endforeach()
  set(path ${generator})
  if(NOT "$ENV{PYTHONPATH}" STREQUAL "")
    string(APPEND path ":$ENV{PYTHONPATH}")
  endif()
  add_custom_command(OUTPUT ${sources} ${cuda_source} ${headers} ${tables}
    COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${path} ${python} -m codegen ${command}
    DEPENDS ${inputs} ${sources_of_generator}
    COMMENT "Generating model ${name}"
    VERBATIM)
  list(FILTER tables EXCLUDE REGEX "\\.tables$")
  etch_model_library(${library} ${name} ${folder} "${sources};${tables}")
  if(cuda_source)
    etch_cuda_model_library(${library}_cuda ${library} ${cuda_source})
  endif()
endfunction()

# Path of a Python that can run the generator.
function(etch_find_python out)
  set(python ${ETCH_PYTHON})
  if(NOT python)
    find_package(Python3 3.10 QUIET COMPONENTS Interpreter)
    if(NOT Python3_Interpreter_FOUND)
      message(FATAL_ERROR "etch_add_model: generating a model needs Python 3.10 or newer; install it or set ETCH_PYTHON")
    endif()
    set(python ${Python3_EXECUTABLE})
  endif()
  execute_process(COMMAND ${python} -c "import jinja2, numpy, tokenizers" RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    get_property(generator GLOBAL PROPERTY ETCH_GENERATOR)
    message(FATAL_ERROR "etch_add_model: ${python} cannot run the generator: choose another with ETCH_PYTHON, or run\n"
      "  ${python} -m pip install --no-deps -r \"${generator}/codegen/requirements.txt\"")
  endif()
  set(${out} ${python} PARENT_SCOPE)
endfunction()
