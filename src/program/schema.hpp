#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "ringkernel/result.hpp"
namespace ringkernel::program {
struct Method { std::string name, full_name; std::uint32_t id; std::string request, reply; std::uint32_t reply_bytes; };
struct State { std::string name; std::uint32_t bytes; std::uint32_t version; std::uint64_t layout_hash; };
struct Behaviour { std::string name, full_name; std::uint32_t id; std::optional<State> state; std::vector<Method> methods;
  const Method* find(std::string_view) const { return nullptr; }
  const Method* find(std::uint32_t) const { return nullptr; } };
struct SchemaSource { std::string file; std::string text; };
class Schema { public:
  static Result<Schema> from_binary(std::span<const std::byte>, const SchemaSource&) { return Error(Errc::unsupported, "stub"); }
  const std::vector<Behaviour>& behaviours() const { return b; }
  const Behaviour* find_behaviour(std::string_view) const { return nullptr; }
  std::string device_header() const { return {}; }
  std::string device_dispatch() const { return {}; }
  std::vector<Behaviour> b; };
}
