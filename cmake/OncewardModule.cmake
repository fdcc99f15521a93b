# onceward_module(NAME [SOURCES ...] [PUBLIC libs ...] [PRIVATE libs ...])
# One static library target onceward_NAME with alias onceward::NAME. Public headers are every *.hpp
# under <dir>/include; private headers are included by quotes from the repository root. Several
# modules may share a folder: a port and its backends.
function(onceward_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target onceward_${name})
  set(include_dir "${CMAKE_CURRENT_SOURCE_DIR}/include")
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:onceward_options> ${arg_PRIVATE})
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(onceward::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_PUBLIC})
  if(EXISTS "${include_dir}")
    target_include_directories(${target} ${scope}
      $<BUILD_INTERFACE:${include_dir}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    onceward_public_headers("${include_dir}" ${target})
  endif()
  set_property(GLOBAL APPEND PROPERTY ONCEWARD_TARGETS ${target})
endfunction()

# The headers of one include folder are installed and checked once, however many modules share it,
# by a target that links all of them: the header of a backend needs what the backend links.
function(onceward_public_headers include_dir module_target)
  file(RELATIVE_PATH name "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "_" name "onceward_headers_of_${name}")
  if(NOT TARGET ${name})
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${include_dir}/*.hpp")
    add_library(${name} INTERFACE)
    target_sources(${name} INTERFACE
      FILE_SET HEADERS BASE_DIRS "${include_dir}" FILES ${headers})
    set_property(GLOBAL APPEND PROPERTY ONCEWARD_HEADER_TARGETS ${name})
  endif()
  target_link_libraries(${name} INTERFACE ${module_target})
endfunction()

# onceward_test(NAME SOURCES ... LIBS ... [LABELS ...] [TIMEOUT seconds])
# One GoogleTest program; every TEST becomes a ctest entry.
function(onceward_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE onceward_options ${arg_LIBS} GTest::gtest GTest::gtest_main)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}")
endfunction()
