# An overlay port, of the working tree that it lies in.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

vcpkg_check_features(OUT_FEATURE_OPTIONS feature_options FEATURES tools RINGKERNEL_TOOLS)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    ${feature_options}
    -DRINGKERNEL_TESTS=OFF
    -DRINGKERNEL_BENCH=OFF
    -DRINGKERNEL_EXAMPLES=OFF
    -DRINGKERNEL_MLIR=OFF
    "-DRINGKERNEL_BOOST_INCLUDE=${CURRENT_INSTALLED_DIR}/include"
    "-DFLATC=${CURRENT_HOST_INSTALLED_DIR}/tools/flatbuffers/flatc")
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/ringkernel)
vcpkg_fixup_pkgconfig()
if("tools" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES rkc rkinfo rkstat AUTO_CLEAN)
endif()
file(REMOVE_RECURSE
  "${CURRENT_PACKAGES_DIR}/debug/include"
  "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST
  "${SOURCE_PATH}/LICENSE"
  "${SOURCE_PATH}/docs/THIRD_PARTY.md"
  "${SOURCE_PATH}/src/http/page/uplot-1.6.32/LICENSE")
