# One static library per layer, linked only to the layers it may include (docs/ARCHITECTURE.md).

include(CheckCXXCompilerFlag)
check_cxx_compiler_flag(-fstack-clash-protection RINGKERNEL_HAS_STACK_CLASH_PROTECTION)

# What our own sources are compiled with; none of it reaches a user's.
add_library(ringkernel_flags INTERFACE)
target_compile_definitions(ringkernel_flags INTERFACE
  BOOST_ASIO_NO_DEPRECATED BOOST_SYSTEM_NO_DEPRECATED)
target_compile_options(ringkernel_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fvisibility=hidden
  # GCC 12 warns of overlapping copies inside std::string operator+ (GCC bug 105651), and takes
  # strings of temporaries (-O3) and members of Boost's variants (instrumented) for uninitialised.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
# A frame larger than the page below a stack is touched page by page: whoever calls us on too small
# a stack gets a fault there, and does not write into what lies below.
if(RINGKERNEL_HAS_STACK_CLASH_PROTECTION)
  target_compile_options(ringkernel_flags INTERFACE -fstack-clash-protection)
endif()
if(RINGKERNEL_SANITIZE)
  target_compile_options(ringkernel_flags INTERFACE
    -fsanitize=${RINGKERNEL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(ringkernel_flags INTERFACE -fsanitize=${RINGKERNEL_SANITIZE})
  if(RINGKERNEL_SANITIZE MATCHES "thread")
    # Asio's fences, which ThreadSanitizer does not model, stand beside locks and atomics that it
    # does.
    target_compile_options(ringkernel_flags INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    include(${CMAKE_CURRENT_LIST_DIR}/clang_sanitizers.cmake)
  endif()
endif()

# The instruction-set levels of x86-64 that device programs are compiled for, each by itself, and
# the options for a level. 0: one build, for what the compiler takes by default. That is so on other
# processors, and under a sanitizer, whose build does not leave this machine: there the one build is
# for this processor, and costs a third.
set(RINGKERNEL_NATIVE_LEVELS 0)
set(on_x86_64 OFF)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(on_x86_64 ON)
endif()
if(on_x86_64 AND NOT RINGKERNEL_SANITIZE)
  set(RINGKERNEL_NATIVE_LEVELS 2 3 4)
endif()
function(rk_native_level target level)
  if(level)
    target_compile_options(${target} PRIVATE -march=x86-64-v${level})
  elseif(on_x86_64)
    target_compile_options(${target} PRIVATE -march=native)
  endif()
endfunction()

# rk_archive(<targets>): their objects are part of the archive that is installed (install.cmake).
function(rk_archive)
  set_property(GLOBAL APPEND PROPERTY RINGKERNEL_ARCHIVE ${ARGN})
endfunction()

# rk_unhurried(<target>): nothing of what it does has to be fast, but for those who install it; a
# build for tests, where compiling costs the most, does without optimisation there.
set(RINGKERNEL_FOR_TESTS OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(RINGKERNEL_FOR_TESTS ON)
endif()
function(rk_unhurried target)
  if(RINGKERNEL_FOR_TESTS)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

# rk_layer(<name> SOURCES ... PUBLIC <layers> PRIVATE <libraries>): target ringkernel_<name>. COLD:
# no message passes through it (rk_unhurried).
function(rk_layer name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(ringkernel_${name} STATIC ${ARG_SOURCES})
  target_include_directories(ringkernel_${name}
    PUBLIC ${PROJECT_SOURCE_DIR}/include
    PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
  target_link_libraries(ringkernel_${name}
    PUBLIC ${ARG_PUBLIC} PRIVATE ringkernel_flags ${ARG_PRIVATE})
  if(ARG_COLD)
    rk_unhurried(ringkernel_${name})
  endif()
  rk_archive(ringkernel_${name})
endfunction()

# rk_embed(<output> ROOT <folder> HEADER <header> TYPE <type> FUNCTION <function> FILES <names>):
# a source with the table that the header declares (embed.cmake).
function(rk_embed output)
  cmake_parse_arguments(ARG "" "ROOT;HEADER;TYPE;FUNCTION" "FILES" ${ARGN})
  set(script ${PROJECT_SOURCE_DIR}/src/cmake/embed.cmake)
  list(TRANSFORM ARG_FILES PREPEND ${ARG_ROOT}/ OUTPUT_VARIABLE paths)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DROOT=${ARG_ROOT} "-DNAMES=${ARG_FILES}" -DHEADER=${ARG_HEADER}
            -DTYPE=${ARG_TYPE} -DFUNCTION=${ARG_FUNCTION} -DOUTPUT=${output} -P ${script}
    DEPENDS ${paths} ${script}
    COMMENT "Embedding the files of ${ARG_HEADER}"
    VERBATIM)
endfunction()

# In a build for tests these, but not what they test, do without optimisation, and have what others
# wrote compiled once (tests/support).
function(rk_compile_quickly test)
  if(NOT RINGKERNEL_FOR_TESTS)
    return()
  endif()
  rk_unhurried(${test})
  target_link_libraries(${test} PRIVATE ringkernel_boost)  # where it is to be found
  target_compile_definitions(${test} PRIVATE GTEST_HAS_PTHREAD=1)  # as GTest's targets say
  target_precompile_headers(${test} REUSE_FROM ringkernel_test_headers)
  get_target_property(sources ${test} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]c$")
  # Nor are they joined: what CMake joins does not know that it is to skip those headers.
  set_source_files_properties(${sources} PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# rk_on_plugins(<target>): it opens the backends of tests/plugins, by their paths.
function(rk_on_plugins target)
  target_compile_definitions(${target} PRIVATE
    RK_TWO_MEMORIES="${RK_PLUGINS}/librk_backend_two_memories.so")
  add_dependencies(${target} rk_backend_two_memories)
endfunction()

# rk_test(<name> SOURCES ... LINK ...): a GoogleTest executable. EACH_TRANSFER: ctest runs it once
# more for each strategy with two memories, as <name>.dma and <name>.sliced, on the backends that
# have it (tests/support/registry.hpp); where a sanitizer is at
# work, which takes its time, only the suites of SANITIZED_SUITES. Stress tests are smaller there:
# a message by copies takes as long as fifty in shared memory. ALONE: it needs every core for
# itself; the others run beside each other, at first those that take long, COST seconds. ONE_THREAD:
# not under ThreadSanitizer, which would have nothing to see. COMPUTES: the test itself has much to
# compute, and is optimised, where no sanitizer makes that dear. EACH_MLIR: ctest runs it once for
# each version of MLIR that is there, as <name>.22 with RK_MLIR=22 in its environment; else once, as
# <name>, without any.
function(rk_test name)
  cmake_parse_arguments(ARG "EACH_TRANSFER;EACH_MLIR;ALONE;ONE_THREAD;COMPUTES"
                        "TIMEOUT;COST;SANITIZED_SUITES" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ringkernel_flags ${ARG_LINK} GTest::gmock_main)
  rk_on_plugins(${name})
  if(RINGKERNEL_SANITIZE OR NOT ARG_COMPUTES)
    rk_compile_quickly(${name})
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(ARG_ONE_THREAD AND RINGKERNEL_SANITIZE MATCHES "thread")
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    return()
  endif()
  if(NOT ARG_COST)
    set(ARG_COST 0)
  endif()
  set(how TIMEOUT ${ARG_TIMEOUT} COST ${ARG_COST} RUN_SERIAL ${ARG_ALONE})
  get_property(versions GLOBAL PROPERTY RINGKERNEL_MLIR_FOUND)
  if(ARG_EACH_MLIR AND versions)
    foreach(version IN LISTS versions)
      set(library ringkernel_mlir_${version})
      add_dependencies(${name} ${library})
      add_test(NAME ${name}.${version} COMMAND ${name})
      set_tests_properties(${name}.${version} PROPERTIES
        ${how} ENVIRONMENT "RK_MLIR=${version};MLIR_LIBRARY_PATH=$<TARGET_FILE:${library}>")
    endforeach()
    return()
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES ${how})
  if(ARG_EACH_TRANSFER AND (ARG_SANITIZED_SUITES OR NOT RINGKERNEL_SANITIZE))
    set(filter)
    set(scale ";RK_TEST_SCALE=0.2")
    if(RINGKERNEL_SANITIZE)
      set(scale)  # small enough (tests/support/stress.hpp)
      set(filter "--gtest_filter=${ARG_SANITIZED_SUITES}")
      if(RINGKERNEL_SANITIZE MATCHES "thread")
        string(APPEND filter "-*opencl*")  # as the preset does for the others
      endif()
    endif()
    foreach(transfer dma sliced)
      add_test(NAME ${name}.${transfer} COMMAND ${name} ${filter})
      set_tests_properties(${name}.${transfer} PROPERTIES
        # What the first has compiled is kept for them.
        ${how} DEPENDS ${name} ENVIRONMENT "RINGKERNEL_TRANSFER=${transfer}${scale}")
    endforeach()
  endif()
endfunction()
