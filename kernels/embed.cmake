# cmake -DROOT=<folder> -DNAMES=<a;b> -DOUTPUT=<file> -P embed.cmake
# Writes the table of kernels/sources.hpp: one raw string literal per file, names relative to ROOT.
set(entries "")
foreach(name IN LISTS NAMES)
  file(READ ${ROOT}/${name} text)
  string(FIND "${text}" ")rk_source\"" terminator)
  if(NOT terminator EQUAL -1)
    message(FATAL_ERROR "${name} contains the terminator of its own literal")
  endif()
  string(APPEND entries "    {\"${name}\", R\"rk_source(${text})rk_source\"},\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by kernels/embed.cmake.
#include \"kernels/sources.hpp\"

namespace ringkernel {

namespace {
constexpr KernelSource sources[] = {
${entries}};
}  // namespace

std::span<const KernelSource> kernel_sources() noexcept { return sources; }

}  // namespace ringkernel
")
