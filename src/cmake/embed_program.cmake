# cmake -DNAME=<program> -DSOURCE=<file> -DHEADERS=<files> -DSCHEMA=<file.fbs>
#       -DBINARY=<file.bfbs> -DSTATE_BYTES=<n> -DREPLY_BYTES=<n> -DUNIT=<file> -DLEVELS=<n;n>
#       -DFOR_C=<bool> -DOUTPUT=<file> -P embed_program.cmake
# Without a schema, both of its files are empty; an empty number is 0. UNIT is what rkc has written,
# LEVELS what it is compiled for, the best first; both are empty where it is not.
# Writes the function NAME_program() of ringkernel_add_program, for C++ or for C. Every byte is an
# escape sequence, so that any content survives, and no literal is longer than compilers have to
# take.
set(piece_digits 8192)  # two for each byte

# characters(<variable> <file>): elements of an array of char, with a zero behind them.
function(characters variable file)
  file(READ "${file}" digits HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," elements "${digits}")
  string(REGEX REPLACE "([^,]+,[^,]+,[^,]+,[^,]+,[^,]+,[^,]+,[^,]+,[^,]+,)" "\\1\n    "
         elements "${elements}")
  set(${variable} "    ${elements}'\\0'" PARENT_SCOPE)
endfunction()

# literals(<variable> <file>): elements of an array of string_view, one at least.
function(literals variable file)
  file(READ "${file}" digits HEX)
  string(LENGTH "${digits}" length)
  set(lines "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${digits}" ${at} ${piece_digits} piece)
    string(LENGTH "${piece}" bytes)
    math(EXPR bytes "${bytes} / 2")
    math(EXPR at "${at} + ${piece_digits}")
    string(REGEX REPLACE "(..)" "\\\\x\\1" piece "${piece}")
    string(APPEND lines "    {\"${piece}\", ${bytes}},\n")
  endwhile()
  set(${variable} "${lines}    {}" PARENT_SCOPE)
endfunction()

# name_of(<variable> <file>): what errors call it, as a literal.
function(name_of variable file)
  get_filename_component(name "${file}" NAME)
  string(REGEX REPLACE "([\\\"])" "\\\\\\1" name "${name}")
  set(${variable} "\"${name}\"" PARENT_SCOPE)
endfunction()

set(texts literals)
set(array "constexpr std::string_view")
if(FOR_C)
  set(texts characters)
  set(array "constexpr char")
endif()
cmake_language(CALL ${texts} source_text "${SOURCE}")
name_of(source_name "${SOURCE}")
set(arrays "${array} source[] = {\n${source_text}};\n")
set(headers "")
set(header_names "")
set(header_texts "")
set(number 0)
foreach(header IN LISTS HEADERS)
  cmake_language(CALL ${texts} header_text "${header}")
  name_of(header_name "${header}")
  string(APPEND arrays "${array} header_${number}[] = {\n${header_text}};\n")
  string(APPEND headers
    "\n                      ringkernel::Source::text(${header_name}, whole(header_${number})),")
  string(APPEND header_names "${header_name}, ")
  string(APPEND header_texts "header_${number}, ")
  math(EXPR number "${number} + 1")
endforeach()
set(header_count ${number})
set(schema "{}")
set(c_schema "")
if(SCHEMA)
  cmake_language(CALL ${texts} schema_bytes "${BINARY}")
  cmake_language(CALL ${texts} schema_text "${SCHEMA}")
  name_of(schema_name "${SCHEMA}")
  string(APPEND arrays "${array} schema[] = {\n${schema_bytes}};\n"
                       "${array} schema_text[] = {\n${schema_text}};\n")
  set(schema "ringkernel::Schema::binary(${schema_name}, whole(schema), whole(schema_text))")
  set(c_schema "
  program.schema_name = ${schema_name};
  program.schema = schema;
  program.schema_bytes = sizeof schema - 1;
  program.schema_text = schema_text;")
endif()
foreach(number STATE_BYTES REPLY_BYTES)
  if("${${number}}" STREQUAL "")
    set(${number} 0)
  endif()
endforeach()
set(declarations "")
set(builds nullptr)
if(UNIT)
  file(STRINGS "${UNIT}" first LIMIT_COUNT 1)
  if(NOT first MATCHES "^// text_hash (0x[0-9a-f]+)$")
    message(FATAL_ERROR "${UNIT} is not of rkc's making")
  endif()
  set(hash ${CMAKE_MATCH_1})
  set(builds "")
  foreach(level IN LISTS LEVELS)
    set(query rk_program_${NAME}_${level})
    string(APPEND declarations "extern \"C\" const rk_hosted_program* ${query}(rk_u32 abi);\n")
    string(APPEND builds "    {${level}, 0, ${hash}u, ${query}},\n")
  endforeach()
  string(APPEND arrays
    "constexpr rk_compiled_program builds[] = {\n${builds}    {0, 0, 0, nullptr}};\n")
  set(builds builds)
endif()
if(FOR_C)
  set(c_headers "")
  if(header_count)
    string(APPEND arrays "constexpr const char* header_names[] = {${header_names}};\n"
                         "constexpr const char* headers[] = {${header_texts}};\n")
    set(c_headers "
  program.header_names = header_names;
  program.headers = headers;
  program.header_count = ${header_count};")
  endif()
  file(WRITE "${OUTPUT}" "// Written by ringkernel_add_program.
#include \"${NAME}_program.h\"

#include \"ringkernel/backend_abi.h\"

${declarations}
namespace {

${arrays}
}  // namespace

ringkernel_program ${NAME}_program(void) {
  ringkernel_program program{};
  program.struct_size = sizeof program;
  program.name = \"${NAME}\";
  program.source_name = ${source_name};
  program.source = source;${c_schema}
  program.state_bytes = ${STATE_BYTES};
  program.reply_bytes = ${REPLY_BYTES};${c_headers}
  program.compiled = ${builds};
  return program;
}
")
  return()
endif()
file(WRITE "${OUTPUT}" "// Written by ringkernel_add_program.
#include \"${NAME}_program.hpp\"

#include <span>
#include <string>
#include <string_view>

#include \"ringkernel/backend_abi.h\"

${declarations}
namespace {

${arrays}
std::string whole(std::span<const std::string_view> pieces) {
  std::string text;
  for (const std::string_view piece : pieces) text += piece;
  return text;
}

}  // namespace

ringkernel::ProgramDesc ${NAME}_program() {
  return {.name = \"${NAME}\",
          .source = ringkernel::Source::text(${source_name}, whole(source)),
          .headers = {${headers}},
          .schema = ${schema},
          .state_bytes = ${STATE_BYTES},
          .reply_bytes = ${REPLY_BYTES},
          .compiled = ${builds}};
}
")
