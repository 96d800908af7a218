/// The fields of states and replies, as places in their bytes: to compare two of them, and to tell
/// which differs.
///
/// Threading: immutable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "program/plan.hpp"

namespace rkc {

/// The value at `offset`; 0 where the bytes end before.
template <class Value>
[[nodiscard]] Value load(std::span<const std::byte> bytes, std::uint32_t offset) {
  Value value{};
  if (offset + sizeof value <= bytes.size())
    std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

class Fields {
 public:
  /// Of a struct.
  [[nodiscard]] static Fields of(const ringkernel::program::Plan& plan,
                                 const ringkernel::program::Object& structure);
  /// Of a reply.
  [[nodiscard]] static Fields of(const ringkernel::program::Plan& plan,
                                 const ringkernel::program::Layout& reply);

  /// All of them, as in JSON: R"({"total": 0.5, "orders[0].quantity": 3})".
  [[nodiscard]] std::string text(std::span<const std::byte> bytes) const;

  /// "total: 0.5 and 0.25" of the first field that differs; nothing where none does. One NaN is as
  /// good as another. Padding does not count.
  [[nodiscard]] std::optional<std::string> difference(std::span<const std::byte> one,
                                                      std::span<const std::byte> other) const;

 private:
  struct Leaf {
    std::string name;  ///< "orders[3].quantity"
    std::uint32_t offset;
    ringkernel::program::Base base;
  };

  void add(const ringkernel::program::Plan& plan, const ringkernel::program::Object& structure,
           const std::string& prefix, std::uint32_t offset);
  void add(const ringkernel::program::Plan& plan, const ringkernel::program::Type& type,
           const std::string& name, std::uint32_t offset, std::uint32_t count);

  std::vector<Leaf> leaves_;
};

}  // namespace rkc
