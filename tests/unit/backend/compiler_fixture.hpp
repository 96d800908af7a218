/// Surroundings of a test's own for compiling at run time: a cache folder, a folder for temporary
/// files, and one for programs that pretend to be compilers.
#pragma once

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "backend/native/compiler.hpp"
#include "kernels/flatten.hpp"
#include "support/temp_folder.hpp"

namespace ringkernel::native {

class CompilerTest : public ::testing::Test {
 protected:
  using Path = std::filesystem::path;

  CompilerTest() : here_(Surroundings::of_process()) {
    for (const char* const name : {"bin", "scratch"}) {
      std::filesystem::create_directory(folder_.path() / name);
      chmod((folder_.path() / name).c_str(), S_IRWXU);
    }
    here_.compiler.clear();
    here_.cache_folder = cache();
    here_.scratch = {folder_.path() / "scratch"};
  }

  [[nodiscard]] Path cache() const { return folder_.path() / "cache" / "ringkernel"; }
  [[nodiscard]] Path scratch() const { return folder_.path() / "scratch"; }

  /// The text of a program as the backend will make it: what a user wrote, and what ends it.
  [[nodiscard]] static std::string program(const std::string& source,
                                           const std::string& end = "#include \"rk_hosted.h\"") {
    const std::string whole = "#include \"rk_actor.h\"\n" + source + "\n" + end + "\n";
    const auto ours = kernel_sources();
    std::vector<KernelSource> sources(ours.begin(), ours.end());
    sources.push_back({"book.rk.cl", whole});
    return flatten(sources, "book.rk.cl").value();
  }

  /// A compiler that is a script; what is no answer to `--version` is `body`.
  void pretend(const std::string& body) {
    const Path path = folder_.path() / "bin" / "pretended";
    std::ofstream(path) << "#!/bin/sh\nif [ \"$1\" = --version ]; then echo pretended; exit; fi\n"
                        << body << "\n";
    chmod(path.c_str(), S_IRWXU);
    here_.compiler = path;
  }

  Result<std::shared_ptr<const CompiledProgram>> compile(const std::string& text) {
    return compile_program("book", text, here_);
  }

  /// How many folders of compiles there still are.
  [[nodiscard]] std::size_t left_behind() const {
    std::size_t count = 0;
    for (const Path& place : {scratch(), cache()}) {
      if (!std::filesystem::exists(place)) continue;
      for (const auto& entry : std::filesystem::directory_iterator(place))
        if (entry.path().filename().string().starts_with("compile-")) ++count;
    }
    return count;
  }

  [[nodiscard]] static std::size_t open_descriptors() {
    const std::filesystem::directory_iterator begin("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin, {}));
  }

  ringkernel::testing::TempFolder folder_;
  Surroundings here_;
};

}  // namespace ringkernel::native
