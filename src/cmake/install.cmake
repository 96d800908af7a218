# What `cmake --install` gives to others: the public headers, one archive of all layers for C++, the
# shared library with the C interfaces, and the files by which find_package(ringkernel) and
# pkg-config find them. Device sources are inside the libraries; FlatBuffers and OpenCL headers are
# needed only to build them. Components are packages (package.cmake): dev unless said otherwise.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)

get_property(layers GLOBAL PROPERTY RINGKERNEL_ARCHIVE)
list(TRANSFORM layers REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
# Not "libringkernel": that is the shared library, which a linker would prefer.
add_library(ringkernel_cpp STATIC ${objects})
set_target_properties(ringkernel_cpp PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME ringkernel)
target_include_directories(ringkernel_cpp INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(ringkernel_cpp INTERFACE cxx_std_20)
target_link_libraries(ringkernel_cpp INTERFACE
  $<INSTALL_INTERFACE:Boost::headers> Threads::Threads ${CMAKE_DL_LIBS})

target_include_directories(ringkernel_shared INTERFACE
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# Schemas as text, and JSON: with the FlatBuffers of whoever links it (ringkernel-config.cmake.in).
set(schema_library)
if(TARGET ringkernel_schema)
  set(schema_library ringkernel_schema_cpp)
  add_library(ringkernel_schema_cpp STATIC $<TARGET_OBJECTS:ringkernel_schema>)
  set_target_properties(ringkernel_schema_cpp PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME schema)
  target_link_libraries(ringkernel_schema_cpp INTERFACE ringkernel_cpp)
endif()

install(TARGETS ringkernel_cpp ringkernel_shared ${schema_library} EXPORT ringkernel
        LIBRARY COMPONENT library NAMELINK_COMPONENT dev)
set(pkg_config_files ringkernel.pc ringkernel-c.pc)
if(TARGET ringkernel_json)
  install(TARGETS ringkernel_json EXPORT ringkernel
          LIBRARY COMPONENT json NAMELINK_COMPONENT dev)
  list(APPEND pkg_config_files ringkernel-json.pc)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ringkernel
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

install(FILES ${PROJECT_SOURCE_DIR}/schemas/tensor.fbs ${PROJECT_SOURCE_DIR}/schemas/message.fbs
        DESTINATION ${CMAKE_INSTALL_DATADIR}/ringkernel/schemas)

# The libraries hold code of others, the live page's uPlot among it.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/docs/THIRD_PARTY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licences)
install(FILES ${PROJECT_SOURCE_DIR}/src/http/page/uplot-1.6.32/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.uPlot COMPONENT licences)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ringkernel)
install(EXPORT ringkernel NAMESPACE ringkernel:: FILE ringkernel-targets.cmake
        DESTINATION ${package_dir})
configure_file(${CMAKE_CURRENT_LIST_DIR}/ringkernel-config.cmake.in
               ${PROJECT_BINARY_DIR}/ringkernel-config.cmake @ONLY)
# Before 1.0 a minor version may change anything.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ringkernel-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ringkernel-config.cmake
              ${PROJECT_BINARY_DIR}/ringkernel-config-version.cmake
              ${CMAKE_CURRENT_LIST_DIR}/program.cmake
              ${CMAKE_CURRENT_LIST_DIR}/embed_program.cmake
        DESTINATION ${package_dir})

# From the folder of the .pc files back to the prefix, so that the tree may be moved.
file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(boost_cflags)
if(RINGKERNEL_BOOST_INCLUDE)
  set(boost_cflags "-isystem ${RINGKERNEL_BOOST_INCLUDE}")
endif()
foreach(file IN LISTS pkg_config_files)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${file}.in ${PROJECT_BINARY_DIR}/${file} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${file} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
