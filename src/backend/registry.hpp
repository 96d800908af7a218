/// The backends: those that are built in, and plugins, which are loaded when they are asked for.
///
/// Threading: any thread.
/// Ownership: what is loaded stays for the life of the process.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"

namespace ringkernel::backend {

/// Every built-in backend, whether it can serve on this machine (`score() > 0`) or not.
std::span<const Backend> backends() noexcept;

/// The built-in backend with this name; or a plugin: the file itself (a name with a slash), else
/// librk_backend_NAME.so in a folder of $RINGKERNEL_BACKEND_PATH (with colons between them), then
/// in that of installed plugins. Errc::backend_unavailable: the detail lists those that are built
/// in, and every path tried with the reason why it would not do.
Result<Backend> find_backend(std::string_view name);

/// For a choice by score: the built-in ones, and each plugin in the folders of
/// $RINGKERNEL_BACKEND_PATH. Why others there cannot be used goes to `refused`.
std::vector<Backend> all_backends(std::vector<std::string>& refused);

/// Where an installation has plugins, and other libraries that only some need: beside the library
/// that this is part of, or as far from the program as it was installed, wherever both are now;
/// then where they were meant to be.
std::vector<std::string> installed_folders();

}  // namespace ringkernel::backend
