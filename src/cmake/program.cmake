# ringkernel_add_program(<name> SOURCE <file> [HEADERS <files>...] [SCHEMA <file.fbs>]
#                        [DEPENDS <files>...] [STATE_BYTES <n>] [REPLY_BYTES <n>] [NOT_NATIVE] [C])
#
# A static library with a program of a user's own, which needs no file at run time:
#
#     ringkernel_add_program(exchange SOURCE book.rk.cl SCHEMA book.fbs)
#     target_link_libraries(service PRIVATE exchange ringkernel::ringkernel)
#
# Whoever links it includes "exchange_program.hpp", which declares
# `ringkernel::ProgramDesc exchange_program();`, and "book_generated.h", which flatc makes of the
# schema. HEADERS: what the source includes, by these files' names without their folders. DEPENDS:
# what else a change of which rebuilds the program. Schemas that are included belong here: the
# headers that flatc makes of them are included by "book_generated.h".
# STATE_BYTES and REPLY_BYTES are as in ProgramDesc, for programs without a schema. For others,
# flatc and the headers of FlatBuffers have to be there.
#
# C: for users of ringkernel::c. Then it is "exchange_program.h", which declares
# `ringkernel_program exchange_program(void);`, and there is no "book_generated.h". The project has
# the language CXX all the same: builds for the processor are C++.
#
# Where the tool rkc is at hand (RINGKERNEL_RKC, or installed beside the library), the program is
# also compiled for the processor, on x86-64 once for each level of its instruction set, so that the
# native backend needs no compiler at run time. NOT_NATIVE: it is not, for handlers that are OpenCL
# C and no C++.
#
# Not only for this project: it is installed, and read by ringkernel-config.cmake.

# _ringkernel_flatc(<name> <for C>): FLATC and, but for C, FLATBUFFERS_INCLUDE, in the cache.
function(_ringkernel_flatc name for_c)
  find_program(FLATC flatc)
  if(NOT FLATC)
    message(FATAL_ERROR "ringkernel_add_program(${name}): for a SCHEMA, flatc is needed: install "
                        "the package flatbuffers-compiler, or set FLATC to the program's path")
  endif()
  find_path(FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h)
  if(NOT for_c AND NOT FLATBUFFERS_INCLUDE)
    message(FATAL_ERROR "ringkernel_add_program(${name}): for a SCHEMA, the headers of FlatBuffers "
                        "are needed: install the package libflatbuffers-dev, or set "
                        "FLATBUFFERS_INCLUDE to their folder")
  endif()
endfunction()

# _ringkernel_check(<name> <source> <schema> <state bytes> <reply bytes> <rest>)
function(_ringkernel_check name source schema state_bytes reply_bytes rest)
  set(call "ringkernel_add_program(${name})")
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "${call}: the name is to be an identifier of C++")
  endif()
  if(rest)
    message(FATAL_ERROR "${call}: nothing takes '${rest}'")
  endif()
  if(NOT source)
    message(FATAL_ERROR "${call}: SOURCE is missing")
  endif()
  if(schema AND (state_bytes OR reply_bytes))
    message(FATAL_ERROR "${call}: the SCHEMA says how large states and replies are")
  endif()
  if(NOT "${state_bytes};${reply_bytes}" MATCHES "^[0-9]*;[0-9]*$")
    message(FATAL_ERROR "${call}: STATE_BYTES and REPLY_BYTES are numbers")
  endif()
endfunction()

# _ringkernel_rkc(<name> <variable>): the command, or nothing.
function(_ringkernel_rkc name variable)
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  if(NOT RINGKERNEL_RKC AND NOT TARGET ringkernel_program)  # a package, wherever it was put
    find_program(RINGKERNEL_RKC rkc
      HINTS ${here}/../../../bin ${here}/../../../../bin ${here}/../bin
            ${here}/../../tools/ringkernel)
  endif()
  set(tool)
  if(RINGKERNEL_RKC)
    set(tool ${RINGKERNEL_RKC})
  elseif(TARGET rkc AND NOT CMAKE_CROSSCOMPILING)
    set(tool rkc)  # the target
  else()
    message(STATUS "ringkernel_add_program(${name}): there is no rkc (RINGKERNEL_RKC), so that "
                   "the native backend will compile the program at run time")
  endif()
  set(${variable} ${tool} PARENT_SCOPE)
endfunction()

# _ringkernel_add_builds(<name> <unit> <levels>): sources of the target, each a build of the unit.
function(_ringkernel_add_builds name unit levels)
  get_filename_component(folder ${unit} DIRECTORY)
  foreach(level IN LISTS levels)
    set(file ${folder}/${name}_level_${level}.cpp)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT "// Written by ringkernel_add_program.
#define RK_HOSTED_QUERY rk_program_@name@_@level@
#define RK_HOSTED_NAMESPACE rk_build_@name@_@level@
#include \"@name@_unit.inc\"
")
    # As the native backend compiles at run time, but for a processor of that level. The options
    # stand behind those of the project, and take precedence: its usual warnings break no build. Not
    # -w, which would let pass what rk_actor.h makes errors of.
    set(options -O2 -fno-fast-math -ffp-contract=off -fno-math-errno -fno-strict-aliasing
                -fno-finite-loops
                -fvisibility=hidden -fstack-clash-protection -Wno-all -Wno-extra -Wno-error
                -Wno-error=cpp
                -Wno-pedantic -Wno-conversion -Wno-sign-conversion -Wno-shadow -Wno-old-style-cast
                -Wno-cast-align -Wno-cast-qual -Wno-double-promotion -Wno-float-equal
                -Wno-missing-declarations -Wno-undef -Wno-switch-default -Wno-switch-enum)
    if(level)
      list(PREPEND options -march=x86-64-v${level})
    endif()
    set_source_files_properties(${file} PROPERTIES
      COMPILE_OPTIONS "${options}" OBJECT_DEPENDS ${unit} SKIP_PRECOMPILE_HEADERS ON)
    target_sources(${name} PRIVATE ${file})
  endforeach()
  target_sources(${name} PRIVATE ${unit})
endfunction()

# _ringkernel_read_schema(<name> <schema> <binary> <generated> <more>): what makes them of it.
# Without a header to be generated: the first alone.
function(_ringkernel_read_schema name schema binary generated more)
  get_filename_component(folder ${binary} DIRECTORY)
  set(cpp)
  set(beside)
  if(generated)
    # Each header includes those of the schemas that its own includes.
    set(included ${more})
    list(FILTER included INCLUDE REGEX "\\.fbs$")
    foreach(file IN LISTS included)
      get_filename_component(stem ${file} NAME_WLE)
      list(APPEND beside ${folder}/${stem}_generated.h)
    endforeach()
    set(cpp COMMAND ${FLATC} --cpp --cpp-std c++17 --gen-name-strings -o ${folder} ${schema}
            ${included})
  endif()
  add_custom_command(
    OUTPUT ${binary} ${generated} ${beside}
    COMMAND ${FLATC} -b --schema --bfbs-comments --bfbs-builtins -o ${folder} ${schema}
    ${cpp}
    DEPENDS ${schema} ${more}
    COMMENT "Reading the schema of the program ${name}"
    VERBATIM)
endfunction()

# _ringkernel_compose(<name> <rkc> <source> <headers> <schema> <binary> <unit> <more>): what makes
# the unit.
function(_ringkernel_compose name rkc source headers schema binary unit more)
  set(options)
  if(schema)
    set(options --schema ${binary} --text ${schema})
  endif()
  foreach(header IN LISTS headers)
    list(APPEND options --header ${header})
  endforeach()
  add_custom_command(
    OUTPUT ${unit}
    COMMAND ${rkc} unit ${source} --name ${name} ${options} -o ${unit}
    DEPENDS ${source} ${headers} ${schema} ${binary} ${more} ${rkc}
    COMMENT "Composing the program ${name}"
    VERBATIM)
endfunction()

# _ringkernel_declare(<name> <file> <for C>): writes the header.
function(_ringkernel_declare name file for_c)
  if(for_c)
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"/// Written by ringkernel_add_program.
#pragma once

#include \"ringkernel/ringkernel.h\"

#ifdef __cplusplus
extern \"C\"
#endif
/// The program `@name@`, for ringkernel_program_add: its texts are in this library, and stay.
ringkernel_program @name@_program(void);
")
  else()
    file(CONFIGURE OUTPUT ${file} @ONLY CONTENT
"/// Written by ringkernel_add_program.
#pragma once

#include \"ringkernel/program.hpp\"

/// The program `@name@`, for RingKernelRuntime::add_program: its texts are in this library.
[[nodiscard]] ringkernel::ProgramDesc @name@_program();
")
  endif()
endfunction()

function(ringkernel_add_program name)
  cmake_parse_arguments(ARG "NOT_NATIVE;C" "SOURCE;SCHEMA;STATE_BYTES;REPLY_BYTES" "DEPENDS;HEADERS"
                        ${ARGN})
  _ringkernel_check("${name}" "${ARG_SOURCE}" "${ARG_SCHEMA}" "${ARG_STATE_BYTES}"
                    "${ARG_REPLY_BYTES}" "${ARG_UNPARSED_ARGUMENTS}${ARG_KEYWORDS_MISSING_VALUES}")
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/embed_program.cmake)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}_program)
  get_filename_component(source "${ARG_SOURCE}" ABSOLUTE)
  set(more)
  foreach(file IN LISTS ARG_DEPENDS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND more ${file})
  endforeach()
  set(headers)
  foreach(file IN LISTS ARG_HEADERS)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND headers ${file})
  endforeach()
  file(MAKE_DIRECTORY ${folder})
  set(library ringkernel::ringkernel)
  set(header ${folder}/${name}_program.hpp)
  if(ARG_C)
    set(library ringkernel::c)
    set(header ${folder}/${name}_program.h)
  endif()
  _ringkernel_declare(${name} ${header} ${ARG_C})
  set(binary)
  set(schema)
  set(generated)
  if(ARG_SCHEMA)
    _ringkernel_flatc(${name} ${ARG_C})
    get_filename_component(schema "${ARG_SCHEMA}" ABSOLUTE)
    get_filename_component(stem "${ARG_SCHEMA}" NAME_WLE)
    set(binary ${folder}/${stem}.bfbs)
    if(NOT ARG_C)
      set(generated ${folder}/${stem}_generated.h)
    endif()
    _ringkernel_read_schema(${name} ${schema} ${binary} "${generated}" "${more}")
  endif()
  set(rkc)
  set(levels)
  set(unit)
  if(NOT ARG_NOT_NATIVE)
    _ringkernel_rkc(${name} rkc)
  endif()
  if(rkc)
    set(levels 0)
    if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
      set(levels 4 3 2)
    endif()
    set(unit ${folder}/${name}_unit.inc)
    _ringkernel_compose(${name} ${rkc} ${source} "${headers}" "${schema}" "${binary}" ${unit}
                        "${more}")
  endif()
  add_custom_command(
    OUTPUT ${folder}/${name}_program.cpp
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DSOURCE=${source} "-DHEADERS=${headers}"
            -DSCHEMA=${schema} -DBINARY=${binary} -DSTATE_BYTES=${ARG_STATE_BYTES}
            -DREPLY_BYTES=${ARG_REPLY_BYTES} -DUNIT=${unit} "-DLEVELS=${levels}"
            -DFOR_C=${ARG_C} -DOUTPUT=${folder}/${name}_program.cpp -P ${script}
    DEPENDS ${source} ${headers} ${schema} ${binary} ${unit} ${more} ${script}
    COMMENT "Embedding the program ${name}"
    VERBATIM)
  add_library(${name} STATIC
    ${folder}/${name}_program.cpp ${header} ${generated})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  if(ARG_C)
    target_compile_features(${name} PRIVATE cxx_std_20)
  else()
    target_compile_features(${name} PUBLIC cxx_std_20)
  endif()
  target_include_directories(${name} SYSTEM PUBLIC ${folder})
  if(generated)
    target_include_directories(${name} SYSTEM INTERFACE ${FLATBUFFERS_INCLUDE})
  endif()
  if(levels)
    _ringkernel_add_builds(${name} ${unit} "${levels}")
  endif()
  target_link_libraries(${name} PUBLIC ${library})
endfunction()
