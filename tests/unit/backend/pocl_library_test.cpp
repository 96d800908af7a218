// Libraries in PoCL's cache folder that are damaged. PoCL loads them, and so ends the process.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "backend/opencl/query.hpp"
#include "support/skip.hpp"
#include "support/temp_folder.hpp"
#include "unit/backend/child_process.hpp"

namespace ringkernel::opencl {
namespace {

TEST(PoclLibrariesOpenCl, ThatAreDamagedEndOneProcessOnly) {
  if (!load_library().api.has_value() ||
      std::ranges::none_of(discover().devices, [](const FoundDevice& device) {
        return std::string_view(device.description.platform) == pocl_platform;
      }))
    RK_SKIP_WITHOUT("pocl", "only PoCL has such a folder");
  namespace fs = std::filesystem;
  const testing::TempFolder home;
  const auto open = [&] {
    return testing::run_child(
        {RK_BACKEND_CHILD, "open"},
        {{"XDG_CACHE_HOME", home.path()},
         {"POCL_CACHE_DIR", ""},
         {"RINGKERNEL_CACHE", "0"},
         {"ASAN_OPTIONS", "detect_leaks=0:use_sigaltstack=0"}});  // PoCL's compiler
  };
  const fs::path own = home.path() / "pocl";
  const fs::path good = home.path() / "good";
  ASSERT_EQ(open().exit_code, 0);
  fs::rename(own, good);
  for (const bool is_cut : {true, false}) {  // ends by SIGBUS, and by abort
    fs::remove_all(own);
    fs::copy(good, own, fs::copy_options::recursive);
    std::size_t libraries = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(own)) {
      if (entry.path().extension() != ".so") continue;
      ++libraries;
      if (is_cut)
        fs::resize_file(entry.path(), std::min<std::uintmax_t>(20'000, entry.file_size() / 2));
      else
        std::ofstream(entry.path()) << std::string(entry.file_size(), '?');
    }
    ASSERT_NE(libraries, 0u);
    EXPECT_NE(open().exit_code, 0) << is_cut;
    const testing::ChildResult next = open();
    EXPECT_EQ(next.exit_code, 0) << is_cut << ": " << next.output;
  }
}

}  // namespace
}  // namespace ringkernel::opencl
