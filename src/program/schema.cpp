#include "program/schema.hpp"

#include <algorithm>

#include "program/emission.hpp"
#include "program/struct_json.hpp"

namespace ringkernel::program {
namespace {

/// What has a `name` and a `full_name`.
template <class T>
const T* find(const std::vector<T>& among, std::string_view name) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const T& one) {
    return one.name == name || one.full_name == name;
  });
  return found == among.end() ? nullptr : &*found;
}

/// "folder/trading.fbs" is "trading.rk.h".
std::string header_of(std::string_view file) {
  std::string name(file.substr(file.find_last_of("/\\") + 1));
  const std::size_t dot = name.rfind('.');
  if (dot != std::string::npos) name.resize(dot);
  name.erase(
      std::remove_if(name.begin(), name.end(),
                     [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '"'; }),
      name.end());
  return (name.empty() ? "schema" : name) + ".rk.h";
}

}  // namespace

std::uint32_t name_id(std::string_view full_name) {
  std::uint32_t hash = 0x811c9dc5u;
  for (const char c : full_name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x01000193u;
  return hash;
}

const Method* Behaviour::find_method(std::string_view method) const {
  return find(methods, method);
}

const Behaviour* Schema::find_behaviour(std::string_view behaviour) const {
  return find(behaviours_, behaviour);
}

std::string Schema::state_json(const State& state, std::span<const std::byte> bytes) const {
  return struct_json(*model_, state.name, bytes);
}

Result<Schema> Schema::from_binary(std::span<const std::byte> bfbs, const SchemaSource& source) {
  RK_TRY(model, read_model(bfbs, source));
  RK_TRY(plan, make_plan(std::move(model), source));
  Schema schema;
  schema.header_name_ = header_of(source.file);
  RK_TRY(header, header_text(plan, schema.header_name_));
  schema.header_ = std::move(header);
  schema.dispatch_ = dispatch_text(plan, schema.header_name_);
  schema.behaviours_ = std::move(plan.behaviours);
  schema.tables_ = std::move(plan.tables);
  schema.model_ = std::make_shared<const Model>(std::move(plan.model));
  return schema;
}

}  // namespace ringkernel::program
