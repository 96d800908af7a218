#include "program/plan.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "foundation/hash.hpp"

namespace ringkernel::program {
namespace {

// Ids that no behaviour and no method may have: zero, and the runtime's own messages.
constexpr std::uint32_t ids_end = 0xffffff00u;

// What the schema language itself knows, on types and on fields.
constexpr std::array<std::string_view, 23> usual_attributes{"id",
                                                            "deprecated",
                                                            "required",
                                                            "key",
                                                            "shared",
                                                            "hash",
                                                            "force_align",
                                                            "bit_flags",
                                                            "original_order",
                                                            "csharp_partial",
                                                            "private",
                                                            "cpp_type",
                                                            "cpp_ptr_type",
                                                            "cpp_ptr_type_get",
                                                            "cpp_str_type",
                                                            "cpp_str_flex_ctor",
                                                            "native_inline",
                                                            "native_default",
                                                            "native_custom_alloc",
                                                            "native_type",
                                                            "native_type_pack_name",
                                                            "streaming",
                                                            "idempotent"};

/// Over a struct's fields, and over the hashes of what is inside it.
std::uint64_t layout_hash(const Object& object, const std::map<int, std::uint64_t>& inner) {
  std::string text;
  for (const Field& field : object.fields) {
    const Type& type = field.type;
    (text += field.short_name()) += '@' + std::to_string(field.offset) + ':';
    if (type.item() == Base::object)
      text += '#' + std::to_string(inner.at(type.index));
    else
      text += suffix_of(type.item());
    text += '*' + std::to_string(type.length) + ';';
  }
  return fnv1a(text);
}

std::string exact_text(double value) {
  std::array<char, 32> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), error == std::errc() ? end : text.data()};
}

class PlanMaker {
 public:
  PlanMaker(Model model, const SchemaSource& source) {
    plan_.model = std::move(model);
    plan_.source = source;
  }

  Result<Plan> make() {
    RK_TRY_VOID(check_services());
    RK_TRY_VOID(find_states());
    for (const Service& service : plan_.model.services)
      for (const Call& call : service.calls) RK_TRY_VOID(reach(call.request));
    plan_.read.assign(read_.begin(), read_.end());
    RK_TRY_VOID(lay_out());
    RK_TRY_VOID(make_behaviours());
    for (const int table : read_) describe(table);
    for (const Written& written : plan_.written) describe(written.table);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] Error refused(std::string_view name, std::string_view reason) const {
    return refusal(plan_.source, name, reason);
  }

  Result<void> check_services() {
    const std::vector<Service>& services = plan_.model.services;
    if (services.empty()) return refused("", "has no rpc_service, so the program has no behaviour");
    if (services.size() > behaviours_max)
      return refused("", std::to_string(services.size()) + " services, at most " +
                             std::to_string(behaviours_max));
    plan_.name_space = services.front().name_space();
    for (const Service& service : services) {
      if (service.name_space() != plan_.name_space)
        return refused(service.name, "another namespace than that of " + services.front().name);
      RK_TRY_VOID(check_attributes(service, {}));
      if (service.calls.size() > methods_max)
        return refused(service.name, std::to_string(service.calls.size()) + " methods, at most " +
                                         std::to_string(methods_max));
      for (const Call& call : service.calls) {
        if (call.has("emits"))
          return refused(call.name, "links between actors (emits) are not there yet");
        RK_TRY_VOID(check_attributes(call, {}));
      }
    }
    return {};
  }

  Result<void> check_attributes(const Entity& entity,
                                const std::vector<std::string_view>& known) const {
    for (const auto& [name, value] : entity.attributes)
      if (std::find(known.begin(), known.end(), name) == known.end())
        return refused(entity.name, "the attribute '" + name + "' means nothing here");
    return {};
  }

  /// Those of a type or a field, which may have the language's own as well.
  Result<void> check_attributes(const Entity& entity, std::vector<std::string_view> known,
                                std::nullptr_t) const {
    known.insert(known.end(), usual_attributes.begin(), usual_attributes.end());
    return check_attributes(entity, known);
  }

  Result<void> find_states() {
    plan_.states.assign(plan_.model.services.size(), -1);
    plan_.old_states = plan_.states;
    for (std::size_t i = 0; i < plan_.model.objects.size(); ++i) {
      const Object& object = plan_.model.objects[i];
      const auto of = object.attributes.find("state_of");
      if (of == object.attributes.end()) {
        for (const std::string_view attribute : {"version", "migrates"})
          if (object.has(attribute))
            return refused(object.name, "'" + std::string(attribute) + "' without state_of");
        continue;
      }
      if (!object.is_struct)
        return refused(object.name, "a state is a struct, because its layout is fixed");
      const std::size_t service = find_service(of->second);
      if (service == plan_.model.services.size())
        return refused(object.name, "state_of '" + of->second + "', which is no rpc_service here");
      if (plan_.states[service] >= 0)
        return refused(object.name, plan_.model.services[service].name + " has a state already, " +
                                        plan_.object(plan_.states[service]).name);
      plan_.states[service] = static_cast<int>(i);
      RK_TRY_VOID(use_struct(static_cast<int>(i)));
      RK_TRY(old_state, find_old_state(object));
      plan_.old_states[service] = old_state;
    }
    return {};
  }

  /// The struct that the state's `migrates` names; -1: it has none.
  Result<int> find_old_state(const Object& state) {
    const auto migrates = state.attributes.find("migrates");
    if (migrates == state.attributes.end()) return -1;
    const std::string& name = migrates->second;
    if (!state.has("version"))
      return refused(state.name, "'migrates' without a version: it says when to migrate");
    const std::vector<Object>& objects = plan_.model.objects;
    const auto found = std::find_if(objects.begin(), objects.end(), [&](const Object& one) {
      return one.is_struct && (one.name == name || one.short_name() == name);
    });
    if (found == objects.end())
      return refused(state.name, "it migrates '" + name + "', which is no struct here");
    if (&*found == &state) return refused(state.name, "it migrates itself");
    const int index = static_cast<int>(found - objects.begin());
    RK_TRY_VOID(use_struct(index));
    return index;
  }

  [[nodiscard]] std::size_t find_service(std::string_view name) const {
    const std::vector<Service>& services = plan_.model.services;
    const auto found = std::find_if(services.begin(), services.end(), [&](const Service& service) {
      return service.name == name || service.short_name() == name;
    });
    return static_cast<std::size_t>(found - services.begin());
  }

  /// Notes a struct behind those inside it.
  Result<void> use_struct(int index) {
    const Object& object = plan_.object(index);
    if (!structs_.insert(index).second) return {};
    RK_TRY_VOID(check_attributes(object, {"state_of", "version", "migrates"}, nullptr));
    for (const Field& field : object.fields) {
      RK_TRY_VOID(check_attributes(field, {}, nullptr));
      if (field.type.item() == Base::object) RK_TRY_VOID(use_struct(field.type.index));
    }
    plan_.structs.push_back(index);
    hashes_[index] = layout_hash(object, hashes_);
    return {};
  }

  /// Notes a table that requests reach, and all that it reaches.
  Result<void> reach(int root) {
    std::vector<int> left{root};
    while (!left.empty()) {
      const int index = left.back();
      left.pop_back();
      if (!read_.insert(index).second) continue;
      RK_TRY_VOID(check_table(plan_.object(index)));
      for (const Field& field : plan_.object(index).fields) {
        if (field.deprecated) continue;
        if (is_union(field.type.item()))
          return refused(union_name(field),
                         "a union cannot be read on a device: make one method for each type, or "
                         "one optional table for each");
        if (field.type.item() != Base::object) continue;
        if (!plan_.object(field.type.index).is_struct) left.push_back(field.type.index);
      }
    }
    return {};
  }

  Result<void> check_table(const Object& table) {
    RK_TRY_VOID(check_attributes(table, {}, nullptr));
    for (const Field& field : table.fields) {
      if (field.deprecated) continue;
      const bool list = field.type.base == Base::vector || field.type.base == Base::string;
      for (const std::string_view nested : {"nested_flatbuffer", "flexbuffer"})
        if (field.has(nested))
          return refused(field.name, "a " + std::string(nested) + " cannot be read on a device");
      if (list && !field.optional && !field.required)
        return refused(field.name, "a default of a string or a vector");
      if (!list && field.has("max"))
        return refused(field.name, "(max: n) is for vectors and strings");
      RK_TRY_VOID(check_attributes(field, {"max"}, nullptr));
      if (field.type.item() == Base::object && plan_.object(field.type.index).is_struct)
        RK_TRY_VOID(use_struct(field.type.index));
    }
    return {};
  }

  Result<void> lay_out() {
    std::set<int> replies;
    for (const Service& service : plan_.model.services)
      for (const Call& call : service.calls) replies.insert(call.reply);
    for (const int table : replies) {
      RK_TRY_VOID(check_table(plan_.object(table)));
      RK_TRY(layout, layout_of(plan_, plan_.object(table)));
      plan_.written.push_back({table, std::move(layout)});
    }
    return {};
  }

  Result<std::uint32_t> make_id(const Entity& entity) {
    const std::uint32_t id = name_id(entity.name);
    if (id == 0 || id >= ids_end)
      return refused(entity.name, "the number of this name is a reserved one: rename it");
    const auto [owner, taken] = ids_.emplace(id, entity.name);
    if (!taken)
      return refused(entity.name, "its number is that of " + owner->second + ": rename it");
    return id;
  }

  Result<void> make_behaviours() {
    for (std::size_t i = 0; i < plan_.model.services.size(); ++i) {
      const Service& service = plan_.model.services[i];
      RK_TRY(id, make_id(service));
      Behaviour& behaviour = plan_.behaviours.emplace_back();
      behaviour.name = service.short_name();
      behaviour.full_name = service.name;
      behaviour.id = id;
      if (plan_.states[i] >= 0) {
        RK_TRY(state, make_state(plan_.states[i], plan_.old_states[i]));
        behaviour.state = std::move(state);
      }
      for (const Call& call : service.calls) {
        RK_TRY(method, make_id(call));
        behaviour.methods.push_back({std::string(call.short_name()), call.name, method,
                                     plan_.object(call.request).name, plan_.object(call.reply).name,
                                     reply_bytes(call.reply)});
      }
    }
    return {};
  }

  [[nodiscard]] std::uint32_t reply_bytes(int table) const {
    for (const Written& written : plan_.written)
      if (written.table == table) return written.layout.bytes;
    return 0;
  }

  [[nodiscard]] StateLayout layout_of_state(int index) const {
    const Object& object = plan_.object(index);
    return {object.name, object.bytes, hashes_.at(index)};
  }

  Result<State> make_state(int index, int old_index) const {
    const Object& object = plan_.object(index);
    State state{layout_of_state(index), 0, {}};
    if (old_index >= 0) state.migrates = layout_of_state(old_index);
    const auto version = object.attributes.find("version");
    if (version == object.attributes.end()) return state;
    const char* const end = version->second.data() + version->second.size();
    const auto [read, error] = std::from_chars(version->second.data(), end, state.version);
    if (error != std::errc() || read != end)
      return refused(object.name, "the version '" + version->second + "' is no number");
    return state;
  }

  void describe(int index) {
    const Object& table = plan_.object(index);
    auto& fields = plan_.tables[table.name];
    for (const Field& field : table.fields)
      fields[field.slot] = {field.name, wire_type(field), field.required && !field.deprecated};
  }

  [[nodiscard]] std::string wire_type(const Field& field) const {
    if (field.deprecated) return "deprecated";
    const Type& type = field.type;
    std::string text(type.base == Base::vector ? "vector of " : "");
    if (type.item() != Base::object) {
      text += suffix_of(type.item());
    } else {
      const Object& object = plan_.object(type.index);
      text += object.name;
      if (object.is_struct) text += ", layout " + std::to_string(hashes_.at(type.index));
    }
    if (field.optional) return text + " or null";
    if (is_number(type.base))
      text += " = " + (field.default_real != 0 ? exact_text(field.default_real)
                                               : std::to_string(field.default_integer));
    return text;
  }

  Plan plan_;
  std::set<int> structs_;
  std::map<int, std::uint64_t> hashes_;
  std::set<int> read_;
  std::map<std::uint32_t, std::string> ids_;
};

}  // namespace

std::string Plan::item_type(const Type& type) const {
  if (type.item() == Base::object) return name_of(object(type.index));
  if (is_number(type.item()) && type.index >= 0) return name_of(enumeration(type.index));
  return "rk_" + std::string(suffix_of(type.item()));
}

Result<Plan> make_plan(Model model, const SchemaSource& source) {
  return PlanMaker(std::move(model), source).make();
}

}  // namespace ringkernel::program
