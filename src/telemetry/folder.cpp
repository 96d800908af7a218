#include "telemetry/folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <system_error>

#include "telemetry/counters_file.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/process.hpp"

namespace ringkernel::telemetry {
namespace {

namespace fs = std::filesystem;

Result<void> make_private(const fs::path& folder) {
  const auto failure = [&](const std::string& why) {
    return Error(Errc::backend_unavailable, "telemetry: '" + folder.string() + "': " + why);
  };
  if (mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    return failure(std::generic_category().message(errno));
  struct stat what {};
  if (lstat(folder.c_str(), &what) != 0) return failure(std::generic_category().message(errno));
  if (!S_ISDIR(what.st_mode)) return failure("not a folder");
  if (what.st_uid != geteuid()) return failure("another user's");
  if ((what.st_mode & (S_IRWXG | S_IRWXO)) != 0) return failure("open to other users");
  return {};
}

bool is_counters_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(file_prefix) && name.ends_with(file_suffix);
}

}  // namespace

fs::path telemetry_root() {
  const char* const runtime_folder = std::getenv("XDG_RUNTIME_DIR");
  if (runtime_folder != nullptr && *runtime_folder == '/')
    return fs::path(runtime_folder) / "ringkernel";
  return "/dev/shm/ringkernel-" + std::to_string(geteuid());
}

Result<fs::path> make_process_folder(const fs::path& root) {
  RK_TRY_VOID(make_private(root));
  fs::path own = root / std::to_string(getpid());
  RK_TRY_VOID(make_private(own));
  return own;
}

std::vector<fs::path> counters_files(const fs::path& root) {
  std::vector<fs::path> files;
  std::error_code ignored;  // what goes while it is being listed is not there
  for (const fs::directory_entry& process : fs::directory_iterator(root, ignored))
    for (const fs::directory_entry& file : fs::directory_iterator(process.path(), ignored))
      if (is_counters_file(file.path())) files.push_back(file.path());
  std::ranges::sort(files);
  return files;
}

void remove_old_files(const fs::path& root) {
  constexpr auto kept_for = std::chrono::hours(24);
  for (const fs::path& path : counters_files(root)) {
    std::error_code failed;
    const auto made = fs::last_write_time(path, failed);
    if (failed || fs::file_time_type::clock::now() - made < kept_for) continue;
    // One that is not understood may be a newer version's, and of a process that runs.
    const auto reader = CountersReader::open(path);
    if (!reader || is_running(reader->process())) continue;
    fs::remove(path, failed);
    fs::remove(path.parent_path(), failed);  // if that was the last one
  }
}

}  // namespace ringkernel::telemetry
