# One static library per layer, linked only to the layers it may include (docs/ARCHITECTURE.md).

add_library(ringkernel_flags INTERFACE)
target_compile_options(ringkernel_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fvisibility=hidden
  # GCC 12 warns of overlapping copies inside std::string operator+ (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(RINGKERNEL_SANITIZE)
  # Instrumented, GCC 12 takes members of Boost's variants for uninitialised.
  target_compile_options(ringkernel_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_compile_options(ringkernel_flags INTERFACE
    -fsanitize=${RINGKERNEL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(ringkernel_flags INTERFACE -fsanitize=${RINGKERNEL_SANITIZE})
  if(RINGKERNEL_SANITIZE MATCHES "thread")
    # Asio's fences, which ThreadSanitizer does not model, stand beside locks and atomics that it
    # does.
    target_compile_options(ringkernel_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
endif()

# rk_archive(<targets>): their objects are part of the archive that is installed (install.cmake).
function(rk_archive)
  set_property(GLOBAL APPEND PROPERTY RINGKERNEL_ARCHIVE ${ARGN})
endfunction()

# rk_layer(<name> SOURCES ... PUBLIC <layers> PRIVATE <libraries>): target ringkernel_<name>.
function(rk_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(ringkernel_${name} STATIC ${ARG_SOURCES})
  target_include_directories(ringkernel_${name}
    PUBLIC ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(ringkernel_${name}
    PUBLIC ${ARG_PUBLIC} PRIVATE ringkernel_flags ${ARG_PRIVATE})
  rk_archive(ringkernel_${name})
endfunction()

# rk_test(<name> SOURCES ... LINK ...): a GoogleTest executable whose tests ctest knows one by one.
function(rk_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ringkernel_flags ${ARG_LINK} GTest::gmock_main)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  # Nothing is kept in the user's cache folder.
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} ENVIRONMENT RINGKERNEL_CACHE=0)
endfunction()
