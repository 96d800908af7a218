/// Shared libraries opened at run time: drivers' loaders and plugins.
///
/// Threading: distinct objects safe; a loaded library is immutable.
/// Ownership: the destructor unloads; `release` keeps it for the life of the process.
/// Errors: Errc::library_not_found or Errc::symbol_not_found; the detail lists every path tried
/// with the reason why it would not do.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "ringkernel/result.hpp"

namespace ringkernel::backend {

class SharedLibrary {
 public:
  /// Opens the first of `candidates` (paths, or names for the system's search) that loads and has
  /// every one of `symbols`. Each candidate that would not do adds "name - reason" to `tried`.
  static Result<SharedLibrary> open(std::span<const std::string> candidates,
                                    std::span<const char* const> symbols,
                                    std::vector<std::string>& tried);

  SharedLibrary(SharedLibrary&& other) noexcept;
  SharedLibrary& operator=(SharedLibrary&& other) noexcept;
  ~SharedLibrary();

  /// The candidate that was taken.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Where it lies, whatever search has found it.
  [[nodiscard]] std::string path() const;

  /// The address of `symbol`, or null.
  [[nodiscard]] void* find(const char* symbol) const noexcept;

  /// Leaves the library loaded for good: for drivers whose threads outlive every handle.
  void release() noexcept { handle_ = nullptr; }

 private:
  SharedLibrary(void* handle, std::string name) noexcept;

  void* handle_;
  std::string name_;
};

/// The path of the shared library that this code is part of; empty: it is part of the program.
[[nodiscard]] std::string own_library();

/// Why the file is not to be trusted, with the path that is to blame; empty if it is. A link is
/// looked at where it lies, too.
[[nodiscard]] std::string objection_to_library(const std::filesystem::path& library);

}  // namespace ringkernel::backend
