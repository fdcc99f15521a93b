# Installs and exports every module recorded by onceward_module(), its public headers and the
# package file, so that find_package(onceward 0.1) works from an install tree.
include(CMakePackageConfigHelpers)

# How an embedder finds the foreign targets that we link: namespace of the target, then the
# arguments of find_dependency(). Linking a namespace without a row here stops the configure step.
set(onceward_foreign_packages
  "OpenSSL|OpenSSL 3.0"
  "CURL|CURL 7.88"
  "SQLite|SQLite3 3.40"
  "Boost|Boost 1.81 CONFIG COMPONENTS json"
  "CAF|CAF MODULE"
  "Threads|Threads"
  "spdlog|spdlog CONFIG"
  "fmt|fmt CONFIG"
  "date|date CONFIG"
  "tomlplusplus|tomlplusplus CONFIG"
  "CLI11|CLI11 CONFIG"
  "GTest|GTest"
  "PostgreSQL|PostgreSQL")

# Namespaces of all foreign targets that `target` needs, directly or through our other modules.
# The libraries of a static library arrive as $<LINK_ONLY:...>: its users' linker needs them too.
function(onceward_foreign_namespaces target out)
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  set(namespaces "")
  foreach(link IN LISTS links)
    string(REGEX REPLACE "^\\$<LINK_ONLY:(.*)>$" "\\1" link "${link}")
    if(link MATCHES "^onceward(::|_)(.+)$")
      onceward_foreign_namespaces(onceward_${CMAKE_MATCH_2} inherited)
      list(APPEND namespaces ${inherited})
    elseif(link MATCHES "^([A-Za-z0-9]+)::")
      list(APPEND namespaces ${CMAKE_MATCH_1})
    elseif(link AND NOT link MATCHES "BUILD_INTERFACE")
      message(FATAL_ERROR "${target} links ${link}: link an imported target (Package::name), "
        "else an embedder of the installed library cannot find it")
    endif()
  endforeach()
  list(REMOVE_DUPLICATES namespaces)
  set(${out} "${namespaces}" PARENT_SCOPE)
endfunction()

set(onceward_find_calls "")
set(known_namespaces "")
foreach(row IN LISTS onceward_foreign_packages)
  string(REGEX MATCH "^([^|]+)\\|(.+)$" row "${row}")
  list(APPEND known_namespaces ${CMAKE_MATCH_1})
  string(APPEND onceward_find_calls "if(\"${CMAKE_MATCH_1}\" IN_LIST _onceward_needed)\n"
    "  find_dependency(${CMAKE_MATCH_2})\nendif()\n")
endforeach()

get_property(targets GLOBAL PROPERTY ONCEWARD_TARGETS)
set(onceward_components "")
set(onceward_component_needs "")
foreach(target IN LISTS targets)
  get_target_property(component ${target} EXPORT_NAME)
  list(APPEND onceward_components ${component})
  onceward_foreign_namespaces(${target} namespaces)
  foreach(namespace IN LISTS namespaces)
    if(NOT namespace IN_LIST known_namespaces)
      message(FATAL_ERROR "${target} needs a target of ${namespace}::, for which "
        "onceward_foreign_packages in cmake/OncewardInstall.cmake has no row")
    endif()
  endforeach()
  string(APPEND onceward_component_needs "set(_onceward_${component}_needs ${namespaces})\n")
  install(TARGETS ${target} EXPORT onceward-targets ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endforeach()

get_property(header_targets GLOBAL PROPERTY ONCEWARD_HEADER_TARGETS)
foreach(target IN LISTS header_targets)
  install(TARGETS ${target} FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endforeach()

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/onceward")
install(EXPORT onceward-targets NAMESPACE onceward:: DESTINATION "${package_dir}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/onceward-config.cmake.in"
  "${PROJECT_BINARY_DIR}/onceward-config.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/onceward-config-version.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/onceward-config.cmake"
  "${PROJECT_BINARY_DIR}/onceward-config-version.cmake"
  "${PROJECT_SOURCE_DIR}/cmake/FindCAF.cmake"
  DESTINATION "${package_dir}")

if(TARGET onceward_app)
  install(TARGETS onceward_app RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
