#include "mlir/library.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "backend/loader.hpp"
#include "backend/registry.hpp"
#include "foundation/entries.hpp"
#include "foundation/environment.hpp"
#include "foundation/memory_error.hpp"
#include "foundation/scope_guard.hpp"

namespace ringkernel::mlir {

namespace {

namespace fs = std::filesystem;

/// Those that tests compare with api.def, the newest first.
constexpr std::array<unsigned, 2> versions_read = {22, 19};

/// Of LLVM's C API; MLIR has none of its own.
constexpr const char* version_function = "LLVMGetVersion";
using VersionFunction = void (*)(unsigned*, unsigned*, unsigned*);

/// What the libraries are called that are built here (src/mlir/capi/).
std::string own_name(unsigned version) {
  return "libringkernel_mlir-" + std::to_string(version) + ".so";
}

/// What the library is called where MLIR itself was built with one.
constexpr std::string_view upstream_name = "libMLIR-C.so";

/// For who has none of them.
constexpr std::string_view where_from =
    " (it is built where Debian's libmlir-22-dev or libmlir-19-dev is installed, and "
    "MLIR_LIBRARY_PATH says where it lies)";

std::string version_text(const LibraryInfo& info) {
  return "MLIR " + std::to_string(info.major) + "." + std::to_string(info.minor) + "." +
         std::to_string(info.patch);
}

/// "19 and 22 are read".
std::string versions_text() {
  std::string text;
  for (auto version = versions_read.rbegin(); version != versions_read.rend(); ++version)
    text += (text.empty() ? "" : " and ") + std::to_string(*version);
  return text + " are read";
}

void add_own_names(std::vector<std::string>& candidates, const fs::path& folder) {
  for (const unsigned version : versions_read)
    candidates.push_back((folder / own_name(version)).string());
}

/// A file, or a folder and what may be in it.
void add_place(std::vector<std::string>& candidates, const std::string& place) {
  std::error_code failed;
  if (!fs::is_directory(place, failed)) {
    candidates.push_back(place);
    return;
  }
  add_own_names(candidates, place);
  std::vector<std::string> others;
  for (const fs::path& file : entries_of(place, failed))
    if (file.filename().string().starts_with(upstream_name)) others.push_back(file.string());
  std::ranges::sort(others);
  std::ranges::move(others, std::back_inserter(candidates));
}

/// In the order in which they are tried. A name without a slash is for the system's search.
std::vector<std::string> candidates_for(const std::string& path) {
  std::vector<std::string> candidates;
  if (!path.empty()) {
    add_place(candidates, path);
    return candidates;
  }
  for (const std::string& place : paths_of_environment("MLIR_LIBRARY_PATH"))
    add_place(candidates, place);
  for (const std::string& folder : backend::installed_folders()) add_own_names(candidates, folder);
  add_own_names(candidates, {});
  for (const unsigned version : versions_read)
    candidates.push_back(std::string(upstream_name) + "." + std::to_string(version) + ".1");
  candidates.emplace_back(upstream_name);
  return candidates;
}

LibraryInfo info_of(const backend::SharedLibrary& library) {
  LibraryInfo info;
  info.path = library.path();
  const auto version = reinterpret_cast<VersionFunction>(library.find(version_function));
  version(&info.major, &info.minor, &info.patch);
  return info;
}

/// The name of the first function that is missing; null: none is.
const char* resolve(const backend::SharedLibrary& library, Api& api) {
  const char* missing = nullptr;
  const auto find = [&](const char* name) {
    void* const function = library.find(name);
    if (function == nullptr && missing == nullptr) missing = name;
    return function;
  };
#define RK_MLIR(result, name, arguments) \
  api.name = reinterpret_cast<result(*) arguments>(find(#name));
#include "mlir/api.def"
#undef RK_MLIR
  return missing;
}

/// What became of the candidates.
struct Search {
  std::unique_ptr<Library> found{};
  std::optional<Errc> refused{};  ///< of the first that was a library, and would not do
  std::vector<std::string> tried{};

  void refuse(Errc why, std::string line) {
    if (!refused) refused = why;
    tried.push_back(std::move(line));
  }
};

void try_candidate(const std::string& candidate, Search& search) {
  const bool is_path = candidate.find('/') != std::string::npos;
  const std::string objection = is_path ? backend::objection_to_library(candidate) : std::string();
  if (!objection.empty()) {
    search.tried.push_back(candidate + " - " + objection);
    return;
  }
  Result<backend::SharedLibrary> library = backend::SharedLibrary::open(
      std::span(&candidate, 1), std::span(&version_function, 1), search.tried);
  if (!library) {
    if (library.error() == Errc::symbol_not_found && !search.refused)
      search.refused = Errc::symbol_not_found;
    return;
  }
  // Whatever comes of it: LLVM is not made to be unloaded.
  const ScopeGuard keep([&]() noexcept { library->release(); });
  auto found = std::make_unique<Library>();
  found->info = info_of(*library);
  const std::string name = candidate + " - " + version_text(found->info);
  if (std::ranges::find(versions_read, found->info.major) == versions_read.end()) {
    search.refuse(Errc::unsupported, name + ": " + versions_text());
    return;
  }
  if (const char* const missing = resolve(*library, found->api)) {
    search.refuse(Errc::symbol_not_found, name + " has no symbol " + missing);
    return;
  }
  search.found = std::move(found);
}

Search search_for(const std::string& path) {
  Search search;
  for (const std::string& candidate : candidates_for(path)) {
    try_candidate(candidate, search);
    if (search.found != nullptr) break;
  }
  return search;
}

/// The libraries of this process. They outlive every static destructor.
class Libraries {
 public:
  static Libraries& all() {
    static auto* const libraries = new Libraries;
    return *libraries;
  }

  /// Null: nobody has found it yet.
  const Library* remembered(const std::string& path) {
    const std::scoped_lock lock(mutex_);
    const auto entry = by_path_.find(path);
    return entry == by_path_.end() ? nullptr : entry->second;
  }

  /// The same for everybody: of what several have loaded at once the first is kept, and one library
  /// is one object, by whichever path it was found.
  const Library* remember(const std::string& path, std::unique_ptr<Library> library) {
    const std::scoped_lock lock(mutex_);
    const auto [entry, is_new] = by_path_.try_emplace(path, nullptr);
    if (!is_new && entry->second != nullptr) return entry->second;
    for (const auto& other : all_)
      if (other->api.mlirContextDestroy == library->api.mlirContextDestroy)
        return entry->second = other.get();
    all_.push_back(std::move(library));
    return entry->second = all_.back().get();
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Library>> all_;
  std::map<std::string, const Library*> by_path_;  ///< as they were asked for
};

}  // namespace

Result<const Library*> Library::find(const std::string& path) {
  Libraries& libraries = Libraries::all();
  if (const Library* const library = libraries.remembered(path)) return library;
  Search search = search_for(path);
  if (search.found != nullptr) return libraries.remember(path, std::move(search.found));
  std::string text = "no library with MLIR's C API";
  if (path.empty() && !search.refused) text += where_from;
  text += "; tried: ";
  for (const std::string& line : search.tried)
    text.append(&line == &search.tried.front() ? "" : "; ").append(line);
  return Error(search.refused.value_or(Errc::library_not_found), std::move(text));
}

Result<LibraryInfo> find_library(const std::string& path) {
  return or_no_memory([&]() -> Result<LibraryInfo> {
    RK_TRY(library, Library::find(path));
    return library->info;
  });
}

}  // namespace ringkernel::mlir
