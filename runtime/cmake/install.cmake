# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where; the prefix may be moved afterwards. Components: etch-development (headers, libraries,
# CMake and pkg-config files, for etch_add_model the generator and what tokenizers are made of), etch-models (their headers
# and libraries), etch-programs.
# Libraries for GPUs have export sets of their own: who uses the others needs no CUDA.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(etch_package ${CMAKE_INSTALL_LIBDIR}/cmake/etch)
set(etch_generator ${CMAKE_INSTALL_DATADIR}/etch)
set(etch_cmake ${CMAKE_CURRENT_LIST_DIR})

function(etch_install_runtime)
  set(component COMPONENT etch-development)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/etch ${component})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/include/etch DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${component})
  install(TARGETS etch etch_hosted EXPORT etch-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT etch-targets NAMESPACE etch:: DESTINATION ${etch_package} ${component})
  configure_package_config_file(${etch_cmake}/etch-config.cmake.in ${PROJECT_BINARY_DIR}/package/etch-config.cmake
    INSTALL_DESTINATION ${etch_package} PATH_VARS etch_generator NO_SET_AND_CHECK_MACRO)
  # Until 1.0 a new minor version may change names and bits.
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/etch-config-version.cmake COMPATIBILITY SameMinorVersion)
  install(FILES
    ${PROJECT_BINARY_DIR}/package/etch-config.cmake ${PROJECT_BINARY_DIR}/package/etch-config-version.cmake
    ${etch_cmake}/add_model.cmake ${etch_cmake}/flags.cmake ${etch_cmake}/model.cmake
    DESTINATION ${etch_package} ${component})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/codegen DESTINATION ${etch_generator} ${component}
    PATTERN __pycache__ EXCLUDE)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/runtime/src/tokenizer DESTINATION ${etch_generator}/runtime/src ${component}
    FILES_MATCHING PATTERN *.hpp)  # what a generated model makes its own tokenizer of
  etch_install_pkg_config(etch "runtime of the models that etch generates" "" "" ${component})
  if(TARGET etch_cuda)
    etch_install_cuda_library(etch_cuda cuda ${etch_package} ${component})
    etch_install_pkg_config(etch_cuda "runtime on NVIDIA GPUs" "etch = ${PROJECT_VERSION}"
      " -lcublasLt -lcudart_static -ldl -lrt -lpthread" ${component})
  endif()
endfunction()

function(etch_install_cuda_library library file folder)
  install(TARGETS ${library} EXPORT ${library}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${ARGN}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT ${library} FILE ${file}.cmake NAMESPACE etch:: DESTINATION ${folder} ${ARGN})
endfunction()

# Each model has an export set of its own, so that models of several builds can be installed beside each other.
function(etch_install_model name programs)
  set(component COMPONENT etch-models)
  install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/${name}.hpp ${CMAKE_CURRENT_SOURCE_DIR}/${name}.h
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${component})
  # What the checkpoint's folder said of its terms, which are those of the tables.
  install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/${name}_terms.txt
    DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/etch_${name} ${component} OPTIONAL)
  install(TARGETS etch_${name} EXPORT etch-model-${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} ${component}
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT etch-model-${name} FILE ${name}.cmake NAMESPACE etch:: DESTINATION ${etch_package}/models ${component})
  etch_install_pkg_config(etch_${name} "etch model ${name}" "etch = ${PROJECT_VERSION}" "" ${component})
  if(TARGET etch_${name}_cuda)
    install(FILES ${CMAKE_CURRENT_SOURCE_DIR}/${name}_cuda.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} ${component})
    etch_install_cuda_library(etch_${name}_cuda ${name}_cuda ${etch_package}/cuda_models ${component})
    etch_install_pkg_config(etch_${name}_cuda "etch model ${name} on NVIDIA GPUs"
      "etch_${name} = ${PROJECT_VERSION}, etch_cuda = ${PROJECT_VERSION}" "" ${component})
  endif()
  if(programs)
    install(TARGETS ${programs} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT etch-programs)
  endif()
endfunction()

function(etch_install_pkg_config library description requires libraries)
  set(pkg_config ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  file(RELATIVE_PATH up /${pkg_config} /.)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(file ${PROJECT_BINARY_DIR}/package/${library}.pc)
  configure_file(${etch_cmake}/library.pc.in ${file} @ONLY)
  install(FILES ${file} DESTINATION ${pkg_config} ${ARGN})
endfunction()
