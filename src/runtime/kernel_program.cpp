#include "runtime/kernel_program.hpp"

#include <utility>

namespace ringkernel::detail {

void KernelProgram::begin(Current current) {
  takes_ops_ = current.definition->takes_ops();
  reply_bytes_ = current.definition->reply_bytes();
  has_methods_ = current.behaviour != nullptr;
  if (has_methods_)
    methods_ =
        current.behaviour->full_name + " has: " + program::names_of(current.behaviour->methods);
  const std::lock_guard lock(mutex_);
  current_ = std::move(current);
}

void KernelProgram::adopt(Current current) {
  const std::lock_guard lock(mutex_);
  if (has_methods_ && current.behaviour == nullptr) return;  // the kernel has ended meanwhile
  current_ = std::move(current);
}

KernelProgram::Current KernelProgram::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

Result<Method> KernelProgram::find_method(std::string_view name, const char* request,
                                          const char* reply) const {
  if (!has_methods_) return has_no_methods();
  const std::lock_guard lock(mutex_);
  const program::Behaviour& behaviour = *current_.behaviour;
  const program::Method* const found = behaviour.find_method(name);
  if (found == nullptr)
    return Error(Errc::unknown_method, behaviour.full_name + " has no method '" +
                                           std::string(name) +
                                           "'; it has: " + program::names_of(behaviour.methods));
  const auto differs = [](const char* given, const std::string& wanted) {
    return given != nullptr && given != wanted;
  };
  if (differs(request, found->request) || differs(reply, found->reply))
    return Error(Errc::invalid_argument,
                 found->full_name + " takes " + found->request + " and answers with " +
                     found->reply + "; the call gives " +
                     (request != nullptr ? request : found->request) + " and wants " +
                     (reply != nullptr ? reply : found->reply));
  return Method{.id = found->id, .reply_bytes = found->reply_bytes};
}

Result<KernelInterface> KernelProgram::interface() const {
  if (!has_methods_) return has_no_methods();
  const std::lock_guard lock(mutex_);
  return KernelInterface{current_.definition->schema_given(), current_.behaviour->full_name};
}

std::string KernelProgram::method_name(std::uint64_t id) const {
  const std::lock_guard lock(mutex_);
  if (current_.behaviour != nullptr)
    for (const program::Method& method : current_.behaviour->methods)
      if (method.id == id) return method.full_name;
  return {};
}

std::string KernelProgram::fault_text(std::uint32_t code, std::uint16_t version) const {
  const std::lock_guard lock(mutex_);
  if (!current_.definition || static_cast<std::uint16_t>(current_.version) != version) return {};
  return std::string(current_.definition->fault_text(code));
}

Error KernelProgram::takes_no_ops() const {
  return {Errc::unsupported_operation, "program '" + name_ + "' takes plain bytes, not ops"};
}

Error KernelProgram::has_no_methods() const {
  return {Errc::unsupported_operation, "program '" + name_ + "' has no schema, and so no methods"};
}

Error KernelProgram::takes_methods_only() const {
  return {Errc::unsupported_operation,
          "program '" + name_ + "' takes messages of methods, which " + methods_};
}

}  // namespace ringkernel::detail
