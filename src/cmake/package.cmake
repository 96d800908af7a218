# `cpack -G DEB`: the shared library, what is needed to build against it, the tools; each a package
# named as Debian wants it. Configure with CMAKE_INSTALL_PREFIX=/usr, as preset deb does: only there
# has lib/ a folder for each architecture.
set(soversion ${PROJECT_VERSION_MAJOR})  # as of libringkernel.so
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR ringkernel)
set(CPACK_PACKAGE_CONTACT "ringkernel maintainers <maintainers@ringkernel.example>"
    CACHE STRING "Maintainer of packages: a name and an address")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_COMPONENTS_ALL library dev tools)  # not licences: each package has a copyright file
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

# rk_deb(<component> NAME <package> SECTION <section> SUMMARY <line> TEXT <more>)
function(rk_deb component)
  cmake_parse_arguments(ARG "" "NAME;SECTION;SUMMARY;TEXT" "" ${ARGN})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${ARG_NAME} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${ARG_SECTION} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${ARG_SUMMARY}\n${ARG_TEXT}" PARENT_SCOPE)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/debian/copyright
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${ARG_NAME}
          COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

# No line is longer than 80 columns, and none has a semicolon, where CPack would end.
set(what "ringkernel keeps OpenCL kernels resident on a device, or runs them on this
processor, and answers messages from them in about a microsecond.")
rk_deb(library NAME libringkernel${soversion} SECTION libs
  SUMMARY "persistent ring-kernel actor runtime on OpenCL - shared library"
  TEXT "${what}\nThis is the library with the C interfaces. It uses a driver of OpenCL if there\n\
is one, and needs none.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS "ocl-icd-libopencl1 | libopencl1")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)

set(json_package)
if(TARGET ringkernel_json)
  list(APPEND CPACK_COMPONENTS_ALL json)
  set(json_package "libringkernel-json${soversion} (= ${PROJECT_VERSION}), ")
endif()
rk_deb(json NAME libringkernel-json${soversion} SECTION libs
  SUMMARY "persistent ring-kernel actor runtime on OpenCL - JSON for C"
  TEXT "${what}\nThis library converts the messages of programs of one's own from and to JSON.")
set(CPACK_DEBIAN_JSON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src/capi)  # libringkernel.so
set(CPACK_DEBIAN_JSON_PACKAGE_DEPENDS "libringkernel${soversion} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_JSON_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)

rk_deb(dev NAME libringkernel-dev SECTION libdevel
  SUMMARY "persistent ring-kernel actor runtime on OpenCL - development files"
  TEXT "${what}\nThese are the headers, the archive for C++, and the files for CMake and\n\
pkg-config.")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libringkernel${soversion} (= ${PROJECT_VERSION}), \
${json_package}libboost1.81-dev | libboost-dev (>= 1.81)")
# For programs with a schema (program.cmake).
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS
    "flatbuffers-compiler, libflatbuffers-dev, ringkernel-tools")

# Where MLIR's own package was there to build it (src/mlir/capi/).
get_property(mlir GLOBAL PROPERTY RINGKERNEL_MLIR_PACKAGED)
if(mlir)
  list(APPEND CPACK_COMPONENTS_ALL mlir)
  rk_deb(mlir NAME libringkernel-mlir-${mlir} SECTION libs
    SUMMARY "persistent ring-kernel actor runtime on OpenCL - C API of MLIR ${mlir}"
    TEXT "${what}\nThis library is loaded where models in MLIR are read. It has the functions of\n\
MLIR's C API, which libmlir-${mlir} does not export.")
  set(CPACK_DEBIAN_MLIR_PACKAGE_DEPENDS "libmlir-${mlir}")
  set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "libringkernel-mlir-${mlir}")
  string(APPEND CPACK_DEBIAN_LIBRARY_PACKAGE_SUGGESTS ", libringkernel-mlir-${mlir}")
endif()

rk_deb(tools NAME ringkernel-tools SECTION utils
  SUMMARY "persistent ring-kernel actor runtime on OpenCL - tools"
  TEXT "${what}\nrkstat shows what runs, rkinfo which devices there are, rkc prepares programs of\n\
your own for a compiler, and finds mistakes in them.")
set(CPACK_DEBIAN_TOOLS_PACKAGE_SHLIBDEPS ON)
# For rkc check.
set(CPACK_DEBIAN_TOOLS_PACKAGE_SUGGESTS "g++, oclgrind")
include(CPack)
