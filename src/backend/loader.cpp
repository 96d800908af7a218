#include "backend/loader.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <utility>

namespace ringkernel::backend {

namespace {

namespace fs = std::filesystem;

std::string joined(const std::vector<std::string>& lines) {
  std::string text = "tried: ";
  for (const std::string& line : lines) {
    if (&line != &lines.front()) text += "; ";
    text += line;
  }
  return text;
}

/// Has the linker give back what it keeps of a complaint: else that goes when the thread has ended,
/// and whoever looks for leaks meanwhile finds it.
void forget_complaint() noexcept {
  dlerror();  // told
  dlerror();  // gone
}

/// The dynamic linker's last complaint, without the name that the caller prints anyway.
std::string linker_reason(const std::string& name) {
  const char* complaint = dlerror();
  if (complaint == nullptr) return "unknown reason";
  std::string reason = complaint;
  forget_complaint();
  const std::string prefix = name + ": ";
  if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
  return reason;
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

}  // namespace

Result<SharedLibrary> SharedLibrary::open(std::span<const std::string> candidates,
                                          std::span<const char* const> symbols,
                                          std::vector<std::string>& tried) {
  Errc failure = Errc::library_not_found;
  for (const std::string& name : candidates) {
    std::string own_name = name;  // its memory comes before what would have to be closed without
    void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      tried.push_back(name + " - " + linker_reason(name));
      continue;
    }
    SharedLibrary library(handle, std::move(own_name));
    const char* missing = nullptr;
    for (const char* symbol : symbols)
      if (missing == nullptr && library.find(symbol) == nullptr) missing = symbol;
    if (missing == nullptr) return library;
    failure = Errc::symbol_not_found;
    tried.push_back(name + " - has no symbol " + missing);
  }
  return Error(failure, joined(tried));
}

SharedLibrary::SharedLibrary(void* handle, std::string name) noexcept
    : handle_(handle), name_(std::move(name)) {}

SharedLibrary::SharedLibrary(SharedLibrary&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)), name_(std::move(other.name_)) {}

SharedLibrary& SharedLibrary::operator=(SharedLibrary&& other) noexcept {
  std::swap(handle_, other.handle_);
  std::swap(name_, other.name_);
  return *this;
}

SharedLibrary::~SharedLibrary() {
  if (handle_ != nullptr) dlclose(handle_);
}

std::string own_library() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&own_library), &here) == 0) return {};
  const std::string path = here.dli_fname != nullptr ? here.dli_fname : "";
  // A program is named as it was called.
  const bool is_library = path.starts_with('/') && path.find(".so") != std::string::npos;
  return is_library ? path : std::string();
}

std::string objection_to_library(const fs::path& library) {
  std::error_code failed;
  const fs::path file = fs::canonical(library, failed);
  if (failed) return {};
  const fs::path folder = library.has_parent_path() ? library.parent_path() : ".";
  for (const fs::path& path : {folder, file.parent_path(), file})
    if (std::string why = objection_to(path); !why.empty()) return why;
  return {};
}

void* SharedLibrary::find(const char* symbol) const noexcept {
  void* const found = dlsym(handle_, symbol);
  if (found == nullptr) forget_complaint();
  return found;
}

std::string SharedLibrary::path() const {
  if (name_.find('/') != std::string::npos) return name_;  // nothing was searched
  const link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) return name_;
  return map->l_name;
}

}  // namespace ringkernel::backend
