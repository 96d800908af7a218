/// The names that a schema's things have in C.
///
/// Threading: distinct objects safe, shared objects unsafe.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "program/model.hpp"

namespace ringkernel::program {

/// Whether C11, C++20, OpenCL C or our own headers have the name for something else.
bool is_reserved(std::string_view c_name);

/// The name of a member of a struct: a reserved one gets a "_" behind it.
std::string member_name(const Field& field);

/// The name of a type. The namespace of the services is dropped, others stand in front of it.
std::string type_name(const Entity& type, std::string_view name_space);

/// All names that the header takes, each with what it is for.
class NameTable {
 public:
  explicit NameTable(const SchemaSource& source) : source_(source) {}

  /// Refused where the name is reserved, or taken.
  Result<void> take(const std::string& c_name, const std::string& full_name);

 private:
  const SchemaSource& source_;
  std::map<std::string, std::string> owners_;
};

}  // namespace ringkernel::program
