# FindCAF: the target CAF::core for the two supported lines, 0.17.6 (Debian 12, which ships no
# package file) and 1.x. Used by our build and, installed beside the package file, by embedders.
#
# Result: CAF_FOUND, CAF_VERSION and the imported target CAF::core. Hint: CAF_ROOT or
# CMAKE_PREFIX_PATH. 0.18, 0.19 and 2.x are refused: actors/caf_compat.hpp does not know them.
include(FindPackageHandleStandardArgs)

# CAF 1.x brings its own package file; it wins, for it knows how that CAF was built.
if(NOT TARGET CAF::core)
  find_package(CAF CONFIG QUIET)
endif()

set(_caf_where CAF_CORE_LIBRARY CAF_INCLUDE_DIR)
if(TARGET CAF::core)
  set(_caf_where CAF_DIR)
  if(NOT CAF_DIR)
    # An enclosing project defined the target itself.
    set(CAF_DIR "as target CAF::core of this project")
  endif()
else()
  find_path(CAF_INCLUDE_DIR NAMES caf/config.hpp)
  find_library(CAF_CORE_LIBRARY NAMES caf_core)
  mark_as_advanced(CAF_INCLUDE_DIR CAF_CORE_LIBRARY)

  # CAF_VERSION_MAJOR is asked first: 1.1.0 also defines CAF_VERSION, but as an octal number.
  # 0.17.6 has only CAF_VERSION, decimal, two digits for each part: 1706.
  set(_caf_macros "")
  foreach(_caf_header caf/config.hpp caf/detail/build_config.hpp)
    if(CAF_INCLUDE_DIR AND EXISTS "${CAF_INCLUDE_DIR}/${_caf_header}")
      file(STRINGS "${CAF_INCLUDE_DIR}/${_caf_header}" _caf_lines
        REGEX "^#define CAF_VERSION(_MAJOR|_MINOR|_PATCH)? +[0-9]+")
      list(APPEND _caf_macros ${_caf_lines})
    endif()
  endforeach()
  if(_caf_macros MATCHES "CAF_VERSION_MAJOR +([0-9]+)")
    set(CAF_VERSION ${CMAKE_MATCH_1})
    foreach(_caf_part MINOR PATCH)
      if(_caf_macros MATCHES "CAF_VERSION_${_caf_part} +([0-9]+)")
        string(APPEND CAF_VERSION .${CMAKE_MATCH_1})
      endif()
    endforeach()
  elseif(_caf_macros MATCHES "CAF_VERSION +([1-9][0-9]*)")
    math(EXPR _caf_major "${CMAKE_MATCH_1} / 10000")
    math(EXPR _caf_minor "${CMAKE_MATCH_1} / 100 % 100")
    math(EXPR _caf_patch "${CMAKE_MATCH_1} % 100")
    set(CAF_VERSION ${_caf_major}.${_caf_minor}.${_caf_patch})
  endif()
endif()

if(CAF_VERSION AND CAF_VERSION VERSION_GREATER_EQUAL 0.17.6
   AND (CAF_VERSION VERSION_LESS 0.18 OR CAF_VERSION VERSION_GREATER_EQUAL 1)
   AND CAF_VERSION VERSION_LESS 2)
  set(CAF_VERSION_SUPPORTED TRUE)
elseif(CAF_VERSION)
  set(CAF_VERSION_SUPPORTED FALSE)
  set(_caf_reason "found CAF ${CAF_VERSION}, supported are 0.17.6 (Debian 12: libcaf-dev) and 1.x")
elseif(TARGET CAF::core)
  # Nothing to compare: whoever defined the target answers for its version.
  set(CAF_VERSION_SUPPORTED TRUE)
else()
  set(_caf_reason "install libcaf-dev (Debian 12) or set CAF_ROOT to a CAF 1.x install tree")
endif()

find_package_handle_standard_args(CAF
  REQUIRED_VARS ${_caf_where} CAF_VERSION_SUPPORTED
  VERSION_VAR CAF_VERSION
  REASON_FAILURE_MESSAGE "${_caf_reason}")

if(CAF_FOUND AND NOT TARGET CAF::core)
  find_package(Threads REQUIRED)
  add_library(CAF::core UNKNOWN IMPORTED)
  # An imported target's headers are system headers: 0.17.6 does not compile without warnings.
  set_target_properties(CAF::core PROPERTIES
    IMPORTED_LOCATION "${CAF_CORE_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CAF_INCLUDE_DIR}"
    INTERFACE_LINK_LIBRARIES Threads::Threads)
endif()
unset(_caf_where)
unset(_caf_reason)
unset(_caf_macros)
