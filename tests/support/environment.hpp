/// A variable of the environment for as long as an object lives.
///
/// Threading: while no other thread looks at the environment.
#pragma once

#include <stdlib.h>

#include <optional>
#include <string>

namespace ringkernel::testing {

class Variable {
 public:
  Variable(const char* name, const std::string& value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Variable() {
    if (before_)
      setenv(name_, before_->c_str(), 1);
    else
      unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

}  // namespace ringkernel::testing
