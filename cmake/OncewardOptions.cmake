# onceward_options: the language level, warnings, hardening and sanitizers that all our own targets
# share. Never exported: an embedder keeps his own.
set(ONCEWARD_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined")
option(ONCEWARD_WERROR "Warnings are errors" ${PROJECT_IS_TOP_LEVEL})

add_library(onceward_options INTERFACE)
target_compile_features(onceward_options INTERFACE cxx_std_20)
target_compile_options(onceward_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wswitch-enum
  $<$<BOOL:${ONCEWARD_WERROR}>:-Werror>
  -fstack-protector-strong)
if(CMAKE_BUILD_TYPE MATCHES "Rel" AND NOT ONCEWARD_SANITIZE)
  target_compile_definitions(onceward_options INTERFACE _FORTIFY_SOURCE=2)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND (CMAKE_BUILD_TYPE MATCHES "Rel" OR ONCEWARD_SANITIZE))
  # g++ 12 reports false positives of these two in optimised or instrumented std::variant and
  # std::string code.
  target_compile_options(onceward_options INTERFACE -Wno-maybe-uninitialized -Wno-restrict)
endif()
if(ONCEWARD_SANITIZE)
  target_compile_options(onceward_options INTERFACE -fsanitize=${ONCEWARD_SANITIZE}
    -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(onceward_options INTERFACE -fsanitize=${ONCEWARD_SANITIZE})
endif()

find_program(ONCEWARD_CCACHE ccache)
if(ONCEWARD_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${ONCEWARD_CCACHE}")
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
