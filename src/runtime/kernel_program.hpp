/// What a ring kernel has of its program: the definition with its version, which a swap replaces,
/// and in its schema the behaviour whose methods it takes.
///
/// Threading: any thread once `begin` has returned.
/// Memory ordering: a lock for what a swap replaces; the rest is set by `begin` and stays.
/// Ownership: shares the definition, which has the behaviour.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "program/definition.hpp"
#include "ringkernel/kernel.hpp"

namespace ringkernel {

using DefinitionPointer = std::shared_ptr<const program::Definition>;

namespace detail {

class KernelProgram {
 public:
  /// The definition and, in its schema, the behaviour; nullptr: it has none.
  struct Current {
    DefinitionPointer definition;
    std::uint32_t version = 0;  ///< of the definition; 0: not begun
    const program::Behaviour* behaviour = nullptr;
  };

  explicit KernelProgram(std::string name) : name_(std::move(name)) {}
  KernelProgram(const KernelProgram&) = delete;
  KernelProgram& operator=(const KernelProgram&) = delete;

  /// Once, before anybody asks for anything else.
  void begin(Current current);
  /// The definition was replaced by one that has its behaviour.
  void adopt(Current current);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] Current current() const;
  [[nodiscard]] bool takes_ops() const noexcept { return takes_ops_; }
  [[nodiscard]] bool has_methods() const noexcept { return has_methods_; }
  /// Room of a reply without a schema; 0: that of its request.
  [[nodiscard]] std::uint32_t reply_bytes() const noexcept { return reply_bytes_; }

  /// Kernel::method; `request` and `reply`: their tables' full names, or null.
  [[nodiscard]] Result<Method> find_method(std::string_view name, const char* request = nullptr,
                                           const char* reply = nullptr) const;
  /// Kernel::interface.
  [[nodiscard]] Result<KernelInterface> interface() const;
  /// The full name of the method with that number; empty: it has none.
  [[nodiscard]] std::string method_name(std::uint64_t id) const;

  /// What the sources of that version, as a reply has it, say of their fault `code`; empty:
  /// nothing, or it is gone.
  [[nodiscard]] std::string fault_text(std::uint32_t code, std::uint16_t version) const;

  // What is said of a message that it does not take.
  [[nodiscard]] Error takes_no_ops() const;
  [[nodiscard]] Error has_no_methods() const;
  [[nodiscard]] Error takes_methods_only() const;

 private:
  const std::string name_;
  bool takes_ops_ = false;  // set by begin, as are the three below
  bool has_methods_ = false;
  std::string methods_;  // for an error that has no lock: as they were at launch
  std::uint32_t reply_bytes_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  Current current_;
};

}  // namespace detail
}  // namespace ringkernel
