# Everything that is not ours. Boost is header-only here; OpenCL is reached at run time (dlopen), so
# only its headers are needed.
find_package(Threads REQUIRED)

add_library(ringkernel_boost INTERFACE)
if(RINGKERNEL_BOOST_INCLUDE)
  target_include_directories(ringkernel_boost SYSTEM INTERFACE ${RINGKERNEL_BOOST_INCLUDE})
endif()
target_link_libraries(ringkernel_boost INTERFACE Threads::Threads)
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_INCLUDES ${RINGKERNEL_BOOST_INCLUDE})
check_cxx_source_compiles(
  "#include <boost/version.hpp>\n#if BOOST_VERSION < 108100\n#error\n#endif\nint main() {}"
  RINGKERNEL_BOOST_OK)
unset(CMAKE_REQUIRED_INCLUDES)
if(NOT RINGKERNEL_BOOST_OK)
  unset(RINGKERNEL_BOOST_OK CACHE)  # look again when it has been installed
  message(FATAL_ERROR
    "Boost 1.81 headers not found: run ./rk build, or set RINGKERNEL_BOOST_INCLUDE")
endif()

find_program(FLATC flatc REQUIRED)
find_path(FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h REQUIRED)
find_path(OPENCL_INCLUDE CL/cl.h REQUIRED)
find_path(SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)  # header-only, over fmt
