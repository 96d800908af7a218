#include "backend/registry.hpp"

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
  return paths_of_environment("RINGKERNEL_BACKEND_PATH");
}

/// Every candidate that would not do adds a line to `tried`.
Result<Backend> load_plugin(std::span<const std::string> candidates,
                            std::vector<std::string>& tried) {
  const char* const entry = RK_BACKEND_QUERY;
  for (const std::string& path : candidates) {
    if (const std::string why = objection_to_library(path); !why.empty()) {
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
