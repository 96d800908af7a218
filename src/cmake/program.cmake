# ringkernel_add_program(<name> SOURCE <file> [SCHEMA <file.fbs>] [DEPENDS <files>...]
#                        [STATE_BYTES <n>] [REPLY_BYTES <n>])
#
# A static library with a program of a user's own, which needs no file at run time:
#
#     ringkernel_add_program(exchange SOURCE book.rk.cl SCHEMA book.fbs)
#     target_link_libraries(service PRIVATE exchange ringkernel::ringkernel)
#
# Whoever links it includes "exchange_program.hpp", which declares
# `ringkernel::ProgramDesc exchange_program();`, and "book_generated.h", which flatc makes of the
# schema. DEPENDS: what else a change of which rebuilds the program, as schemas that are included.
# STATE_BYTES and REPLY_BYTES are as in ProgramDesc, for programs without a schema. For others,
# flatc and the headers of FlatBuffers have to be there.
#
# Not only for this project: it is installed, and read by ringkernel-config.cmake.

# _ringkernel_flatc(<name>): FLATC and FLATBUFFERS_INCLUDE, in the cache.
function(_ringkernel_flatc name)
  find_program(FLATC flatc)
  if(NOT FLATC)
    message(FATAL_ERROR "ringkernel_add_program(${name}): for a SCHEMA, flatc is needed: install "
                        "the package flatbuffers-compiler, or set FLATC to the program's path")
  endif()
  find_path(FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h)
  if(NOT FLATBUFFERS_INCLUDE)
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

function(ringkernel_add_program name)
  cmake_parse_arguments(ARG "" "SOURCE;SCHEMA;STATE_BYTES;REPLY_BYTES" "DEPENDS" ${ARGN})
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
  file(MAKE_DIRECTORY ${folder})
  file(CONFIGURE OUTPUT ${folder}/${name}_program.hpp @ONLY CONTENT
"/// Written by ringkernel_add_program.
#pragma once

#include \"ringkernel/program.hpp\"

/// The program `@name@`, for RingKernelRuntime::add_program: its texts are in this library.
[[nodiscard]] ringkernel::ProgramDesc @name@_program();
")
  set(binary)
  set(schema)
  set(generated)
  if(ARG_SCHEMA)
    _ringkernel_flatc(${name})
    get_filename_component(schema "${ARG_SCHEMA}" ABSOLUTE)
    get_filename_component(stem "${ARG_SCHEMA}" NAME_WLE)
    set(binary ${folder}/${stem}.bfbs)
    set(generated ${folder}/${stem}_generated.h)
    add_custom_command(
      OUTPUT ${binary} ${generated}
      COMMAND ${FLATC} -b --schema --bfbs-comments --bfbs-builtins -o ${folder} ${schema}
      COMMAND ${FLATC} --cpp --cpp-std c++17 --gen-name-strings -o ${folder} ${schema}
      DEPENDS ${schema} ${more}
      COMMENT "Reading the schema of the program ${name}"
      VERBATIM)
  endif()
  add_custom_command(
    OUTPUT ${folder}/${name}_program.cpp
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DSOURCE=${source} -DSCHEMA=${schema}
            -DBINARY=${binary} -DSTATE_BYTES=${ARG_STATE_BYTES} -DREPLY_BYTES=${ARG_REPLY_BYTES}
            -DOUTPUT=${folder}/${name}_program.cpp -P ${script}
    DEPENDS ${source} ${schema} ${binary} ${more} ${script}
    COMMENT "Embedding the program ${name}"
    VERBATIM)
  add_library(${name} STATIC
    ${folder}/${name}_program.cpp ${folder}/${name}_program.hpp ${generated})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD OFF)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} SYSTEM PUBLIC ${folder})
  if(ARG_SCHEMA)
    target_include_directories(${name} SYSTEM INTERFACE ${FLATBUFFERS_INCLUDE})
  endif()
  target_link_libraries(${name} PUBLIC ringkernel::ringkernel)
endfunction()
