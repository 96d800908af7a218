"""Builds and runs tests/install/consumer against the package."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout


class Consumer(ConanFile):
    settings = "os", "arch", "compiler", "build_type"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.user_presets_path = False  # which would lie among the sources
        toolchain.generate()

    def build(self):
        root = os.path.join(self.recipe_folder, "..", "..", "..")
        cmake = CMake(self)
        cmake.configure(build_script_folder=os.path.join(root, "tests", "install", "consumer"))
        cmake.build()

    def test(self):
        if can_run(self):
            for program in ("consumer", "c_consumer", "program_consumer"):
                self.run(os.path.join(self.cpp.build.bindir, program), env="conanrun")
