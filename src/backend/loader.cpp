#include "backend/loader.hpp"

#include <dlfcn.h>

#include <utility>

namespace ringkernel::backend {

namespace {

std::string joined(const std::vector<std::string>& lines) {
  std::string text = "tried: ";
  for (const std::string& line : lines) {
    if (&line != &lines.front()) text += "; ";
    text += line;
  }
  return text;
}

/// The dynamic linker's last complaint, without the name that the caller prints anyway.
std::string linker_reason(const std::string& name) {
  const char* complaint = dlerror();
  if (complaint == nullptr) return "unknown reason";
  std::string reason = complaint;
  const std::string prefix = name + ": ";
  if (reason.starts_with(prefix)) reason.erase(0, prefix.size());
  return reason;
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

void* SharedLibrary::find(const char* symbol) const noexcept { return dlsym(handle_, symbol); }

}  // namespace ringkernel::backend
