#include "telemetry/folder.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "foundation/entries.hpp"
#include "foundation/environment.hpp"
#include "foundation/private_folder.hpp"
#include "telemetry/counters_file.hpp"
#include "telemetry/counters_reader.hpp"
#include "telemetry/counters_writer.hpp"
#include "telemetry/process.hpp"

namespace ringkernel::telemetry {
namespace {

namespace fs = std::filesystem;

Result<void> make_private(const fs::path& folder) {
  const std::string why = make_private_folder(folder);
  if (why.empty()) return {};
  return Error(Errc::backend_unavailable, "telemetry: '" + folder.string() + "': " + why);
}

bool is_counters_file(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(file_prefix) && name.ends_with(file_suffix);
}

/// Somebody may want to know what a process died of. But one that dies again and again leaves a
/// file each time, in memory.
constexpr std::size_t dead_files_max = 16;
constexpr std::chrono::nanoseconds dead_files_age_max = std::chrono::hours(24);

struct DeadFile {
  fs::path path;
  std::chrono::nanoseconds age;
};

/// Since it was written last.
std::chrono::nanoseconds age_of(const fs::path& path) {
  std::error_code failed;
  const auto made = fs::last_write_time(path, failed);
  return failed ? std::chrono::nanoseconds(0) : fs::file_time_type::clock::now() - made;
}

/// For a file that does not say whose it is.
bool has_process(const fs::path& path) {
  std::error_code ignored;
  return fs::exists("/proc" / path.parent_path().filename(), ignored);
}

/// The file, if nobody will publish to it any more.
std::optional<DeadFile> dead_file(const fs::path& path, std::uint64_t now_ns) {
  const auto writer = writer_of(path);
  if (!writer) {  // only being made, perhaps
    if (has_process(path)) return std::nullopt;
    return DeadFile{path, age_of(path)};
  }
  // A process that is not known here may be another container's: it still publishes.
  if (is_running(writer->process) || !writer->is_silent(now_ns)) return std::nullopt;
  const std::uint64_t age_ns = now_ns - std::min(now_ns, writer->heartbeat_ns);
  return DeadFile{path, std::chrono::nanoseconds(age_ns)};
}

using ringkernel::entries_of;

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::error_code ignored;
  return entries_of(folder, ignored);
}

bool is_in(const Scope& scope, const fs::path& process_folder) {
  return scope.process.empty() || process_folder.filename() == scope.process;
}

void remove_file(const fs::path& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
  fs::remove(path.parent_path(), ignored);  // if that was the last one
}

}  // namespace

std::vector<fs::path> telemetry_roots() {
  std::vector<fs::path> roots;
  const std::string_view runtime_folder = environment("XDG_RUNTIME_DIR");
  if (runtime_folder.starts_with('/')) roots.push_back(fs::path(runtime_folder) / "ringkernel");
  roots.emplace_back("/dev/shm/ringkernel-" + std::to_string(geteuid()));
  return roots;
}

Result<fs::path> make_process_folder(const fs::path& root) {
  RK_TRY_VOID(make_private(root));
  fs::path own = root / std::to_string(getpid());
  RK_TRY_VOID(make_private(own));
  return own;
}

std::vector<fs::path> counters_files(const fs::path& root) {
  std::vector<fs::path> files;
  for (const fs::path& process : entries_of(root))
    for (fs::path& file : entries_of(process))
      if (is_counters_file(file)) files.push_back(std::move(file));
  std::ranges::sort(files);
  return files;
}

std::vector<fs::path> counters_files(const Scope& scope) {
  std::vector<fs::path> files;
  for (const fs::path& root : scope.roots)
    for (fs::path& file : counters_files(root))
      if (is_in(scope, file.parent_path())) files.push_back(std::move(file));
  return files;
}

std::vector<std::string> unreadable_folders(const Scope& scope) {
  std::vector<std::string> sentences;
  const auto list = [&](const fs::path& folder) {
    std::error_code error;
    std::vector<fs::path> entries = entries_of(folder, error);
    if (error && error != std::errc::no_such_file_or_directory)
      sentences.push_back("'" + folder.string() + "' cannot be read: " + error.message());
    return entries;
  };
  for (const fs::path& root : scope.roots)
    for (const fs::path& process : list(root)) {
      std::error_code ignored;  // it may be gone by now
      if (is_in(scope, process) && fs::is_directory(process, ignored)) (void)list(process);
    }
  return sentences;
}

void remove_dead_files(const fs::path& root, std::uint64_t now_ns) {
  if (!objection_to_folder(root).empty()) return;
  std::vector<DeadFile> dead;
  for (const fs::path& path : counters_files(root))
    if (auto file = dead_file(path, now_ns)) dead.push_back(std::move(*file));
  std::ranges::sort(dead, {}, &DeadFile::age);
  for (std::size_t i = 0; i < dead.size(); ++i)
    if (i >= dead_files_max || dead[i].age >= dead_files_age_max) remove_file(dead[i].path);
}

}  // namespace ringkernel::telemetry
