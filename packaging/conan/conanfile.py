"""The recipe for Conan 2, of the working tree that it lies in: `conan create packaging/conan`."""

import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir

# What the library is built from.
SOURCES = ["CMakeLists.txt", "LICENSE", "docs/THIRD_PARTY.md", "include/*", "src/*", "kernels/*",
           "schemas/*", "bridge/*"]


class Ringkernel(ConanFile):
    name = "ringkernel"
    version = "0.1.0"
    description = "Persistent ring-kernel actor runtime on OpenCL"
    license = "Apache-2.0"
    settings = "os", "arch", "compiler", "build_type"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for pattern in SOURCES:
            copy(self, pattern, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        self.requires("boost/[>=1.81.0 <2]", transitive_headers=True,
                      options={"header_only": True})
        # Compiled in, so none of a user's business.
        self.requires("flatbuffers/2.0.8", visible=False)
        self.requires("fmt/[>=9 <10]", visible=False, options={"header_only": True})
        self.requires("spdlog/[>=1.10 <2]", visible=False, options={"header_only": True})
        self.requires("nlohmann_json/[>=3.11 <4]", visible=False)
        self.requires("opencl-headers/[>=2022]", visible=False)

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25 <4]")
        self.tool_requires("flatbuffers/2.0.8")  # flatc, of the headers' version

    def validate(self):
        check_min_cppstd(self, 20)

    def conans_boost(self):
        """Boost as a dependency; none where a profile says that it is the system's."""
        return [one for one in self.dependencies.host.values() if one.ref.name == "boost"]

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for option in ("TESTS", "BENCH", "EXAMPLES", "TOOLS", "MLIR"):
            toolchain.cache_variables[f"RINGKERNEL_{option}"] = False
        for boost in self.conans_boost():
            toolchain.cache_variables["RINGKERNEL_BOOST_INCLUDE"] = os.path.join(
                boost.package_folder, "include")
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        documents = os.path.join(self.package_folder, "share", "doc", "ringkernel")
        copy(self, "*", documents, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "share", "doc"))
        modules = os.path.join(self.package_folder, "lib", "cmake", "ringkernel")
        copy(self, "*program.cmake", modules, os.path.join(self.package_folder, "cmake"))
        for folder in ("cmake", "pkgconfig"):  # which Conan makes of package_info
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_build_modules",
                                   [os.path.join("cmake", "program.cmake")])
        for_cpp = self.cpp_info.components["cpp"]
        for_cpp.libs = ["ringkernel_cpp"]
        for_cpp.requires = ["boost::headers" for _ in self.conans_boost()]
        for_cpp.system_libs = ["pthread", "dl"]
        for_cpp.set_property("cmake_target_name", "ringkernel::ringkernel")
        for_cpp.set_property("pkg_config_name", "ringkernel")
        for_c = self.cpp_info.components["c"]
        for_c.libs = ["ringkernel"]
        for_c.set_property("cmake_target_name", "ringkernel::c")
        for_c.set_property("pkg_config_name", "ringkernel-c")
