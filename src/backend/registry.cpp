#include "backend/registry.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "backend/loader.hpp"
#include "backend/native/native.hpp"
#include "backend/opencl/opencl.hpp"
#include "foundation/entries.hpp"
#include "foundation/environment.hpp"

namespace ringkernel::backend {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view plugin_prefix = "librk_backend_";
constexpr std::string_view plugin_suffix = ".so";

std::vector<std::string> plugin_folders() {
  std::string_view left = environment("RINGKERNEL_BACKEND_PATH");
  std::vector<std::string> folders;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find(':'), left.size());
    if (end != 0) folders.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return folders;
}

/// Whoever else may write it brings code into this process. Empty: nobody may, or there is no such
/// thing, which the linker says better.
std::string objection_to(const fs::path& path) {
  struct stat what {};
  if (stat(path.c_str(), &what) != 0) return {};
  if (what.st_uid != 0 && what.st_uid != geteuid())
    return path.string() + " belongs to user " + std::to_string(what.st_uid) +
           ", and not to root or to user " + std::to_string(geteuid());
  if ((what.st_mode & (S_IWGRP | S_IWOTH)) == 0) return {};
  const bool is_of_all = (what.st_mode & S_IWOTH) != 0;
  return path.string() + " can be written by " + (is_of_all ? "every user" : "its group") +
         "; chmod go-w";
}

/// Why the file is not to be trusted; empty if it is. A link is looked at where it lies, too.
std::string objection_to_plugin(const fs::path& plugin) {
  std::error_code failed;
  const fs::path file = fs::canonical(plugin, failed);
  if (failed) return {};
  const fs::path folder = plugin.has_parent_path() ? plugin.parent_path() : ".";
  for (const fs::path& path : {folder, file.parent_path(), file})
    if (std::string why = objection_to(path); !why.empty()) return why;
  return {};
}

/// Every candidate that would not do adds a line to `tried`.
Result<Backend> load_plugin(std::span<const std::string> candidates,
                            std::vector<std::string>& tried) {
  const char* const entry = RK_BACKEND_QUERY;
  for (const std::string& path : candidates) {
    if (const std::string why = objection_to_plugin(path); !why.empty()) {
      tried.push_back(path + " - " + why);
      continue;
    }
    Result<SharedLibrary> library =
        SharedLibrary::open(std::span(&path, 1), std::span(&entry, 1), tried);
    if (!library) continue;
    const auto query = reinterpret_cast<rk_backend_query_function>(library->find(entry));
    const rk_backend* const table = query(RK_BACKEND_ABI_VERSION);
    const bool is_ours = table != nullptr && table->abi_version == RK_BACKEND_ABI_VERSION &&
                         table->struct_bytes == sizeof(rk_backend);
    if (is_ours) {
      library->release();
      return Backend(*table);
    }
    tried.push_back(path + " - does not serve version " + std::to_string(RK_BACKEND_ABI_VERSION) +
                    " of the interface");
  }
  return Error(make_error_code(Errc::backend_unavailable));
}

/// Where an installation has its plugins: beside the library that this is part of, or as far from
/// the program as it was installed, wherever both are now; then where they were meant to be.
std::vector<std::string> installed_folders() {
  std::vector<std::string> folders;
  const auto add = [&](const fs::path& folder) {
    const std::string text = folder.lexically_normal().string();
    if (std::ranges::find(folders, text) == folders.end()) folders.push_back(text);
  };
  const std::string library = own_library();
  if (!library.empty()) add(fs::path(library).parent_path() / "ringkernel");
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  if (!failed) add(program.parent_path() / RK_BACKEND_FOLDER_FROM_PROGRAM);
  add(RK_BACKEND_FOLDER);
  return folders;
}

/// Files that may be the plugin with this name.
std::vector<std::string> plugin_paths(std::string_view name) {
  if (name.find('/') != std::string_view::npos) return {std::string(name)};
  std::vector<std::string> paths;
  std::vector<std::string> folders = plugin_folders();
  std::ranges::move(installed_folders(), std::back_inserter(folders));
  paths.reserve(folders.size());
  for (const std::string& folder : folders)
    paths.push_back((fs::path(folder) / std::string(plugin_prefix).append(name)).string() +
                    std::string(plugin_suffix));
  return paths;
}

}  // namespace

std::span<const Backend> backends() noexcept {
  static const Backend all[] = {
      Backend(*rk_backend_native(RK_BACKEND_ABI_VERSION)),
      Backend(*rk_backend_opencl(RK_BACKEND_ABI_VERSION)),
  };
  return all;
}

Result<Backend> find_backend(std::string_view name) {
  const auto found = std::ranges::find(backends(), name, &Backend::name);
  if (found != backends().end()) return *found;
  std::vector<std::string> tried;
  if (Result<Backend> plugin = load_plugin(plugin_paths(name), tried)) return plugin;
  std::string text = "no backend is called '" + std::string(name) + "'; there are:";
  for (const Backend& backend : backends()) text.append(" ").append(backend.name());
  for (const std::string& line : tried) text.append("; tried ").append(line);
  return Error(Errc::backend_unavailable, std::move(text));
}

std::vector<Backend> all_backends(std::vector<std::string>& refused) {
  std::vector<Backend> all(backends().begin(), backends().end());
  for (const std::string& folder : plugin_folders()) {
    std::error_code failed;
    std::vector<std::string> plugins;
    for (const fs::path& file : entries_of(folder, failed)) {
      const std::string name = file.filename().string();
      if (name.starts_with(plugin_prefix) && name.ends_with(plugin_suffix))
        plugins.push_back(file.string());
    }
    if (failed) refused.push_back(folder + " - " + failed.message());
    std::ranges::sort(plugins);
    for (const std::string& plugin : plugins)
      if (const Result<Backend> backend = load_plugin(std::span(&plugin, 1), refused))
        all.push_back(*backend);
  }
  return all;
}

}  // namespace ringkernel::backend
