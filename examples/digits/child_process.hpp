/// A piece of work in a process of its own.
///
/// Threading: only while the process has one thread, which `fork` needs.
/// Errors: what the work throws is thrown here as `std::runtime_error` with the same text.
#pragma once

#include <functional>
#include <string>

namespace digits {

/// The text that `work` returns, run in a child process that ends with it.
[[nodiscard]] std::string in_child_process(const std::function<std::string()>& work);

}  // namespace digits
