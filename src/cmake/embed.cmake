# cmake -DROOT=<folder> -DNAMES=<a;b> -DHEADER=<header> -DTYPE=<type> -DFUNCTION=<function>
#       -DOUTPUT=<file> -P embed.cmake
# Writes the table that FUNCTION of HEADER returns: a TYPE {name, text} for each file, names
# relative to ROOT. Texts bring their lengths: clang refuses to count so many characters.
set(entries "")
foreach(name IN LISTS NAMES)
  file(READ ${ROOT}/${name} text)
  string(FIND "${text}" ")rk_source\"" terminator)
  if(NOT terminator EQUAL -1)
    message(FATAL_ERROR "${name} contains the terminator of its own literal")
  endif()
  string(APPEND entries "    {\"${name}\", R\"rk_source(${text})rk_source\"sv},\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by src/cmake/embed.cmake.
#include \"${HEADER}\"

namespace ringkernel {

namespace {
using std::string_view_literals::operator\"\"sv;
constexpr ${TYPE} table[] = {
${entries}};
}  // namespace

std::span<const ${TYPE}> ${FUNCTION}() noexcept { return table; }

}  // namespace ringkernel
")
