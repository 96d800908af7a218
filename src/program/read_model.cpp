#include <flatbuffers/reflection_generated.h>

#include <limits>
#include <set>

#include "program/model.hpp"

namespace ringkernel::program {
namespace {

using flatbuffers::Offset;
using flatbuffers::String;
template <class T>
using Tables = flatbuffers::Vector<Offset<T>>;

std::string text_of(const String* string) { return string ? string->str() : std::string(); }

bool is_dotted(std::string_view name) {
  for (;;) {
    const std::size_t dot = name.find('.');
    if (!is_identifier(name.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    name.remove_prefix(dot + 1);
  }
}

/// Whether a number of the type can have the value; 64 bits without a sign are given as with one.
bool fits(Base base, std::int64_t value) {
  if (base == Base::boolean) return value == 0 || value == 1;
  if (base >= Base::i64) return true;
  const auto bits = static_cast<int>(8 * bytes_of(base));
  const bool is_signed = base == Base::i8 || base == Base::i16 || base == Base::i32;
  const std::int64_t low = is_signed ? -(std::int64_t{1} << (bits - 1)) : 0;
  return value >= low && value <= low + (std::int64_t{1} << bits) - 1;
}

class Reader {
 public:
  Reader(const reflection::Schema& schema, const SchemaSource& source)
      : schema_(schema), source_(source) {}

  Result<Model> read() {
    // Objects and enums name each other by index: how many there are is needed before.
    objects_ = schema_.objects() ? schema_.objects()->size() : 0;
    RK_TRY_VOID(each(schema_.enums(), model_.enums, &Reader::read_enum));
    RK_TRY_VOID(each(schema_.objects(), model_.objects, &Reader::read_object));
    for (const Object& object : model_.objects)
      for (const Field& field : object.fields) RK_TRY_VOID(check_type(object, field));
    RK_TRY_VOID(check_structs(model_, source_));
    names_.clear();  // a service may be called as a table is
    RK_TRY_VOID(each(schema_.services(), model_.services, &Reader::read_service));
    return std::move(model_);
  }

 private:
  [[nodiscard]] Error unsound(std::string_view where, std::string_view reason) const {
    return refusal(source_, where, std::string("the binary schema is not sound: ") += reason);
  }

  template <class T, class To>
  Result<void> each(const Tables<T>* from, std::vector<To>& to,
                    Result<void> (Reader::*one)(const T&, To&)) {
    if (from == nullptr) return {};
    to.resize(from->size());
    for (flatbuffers::uoffset_t i = 0; i < from->size(); ++i)
      RK_TRY_VOID((this->*one)(*from->Get(i), to[i]));
    return {};
  }

  template <class T>
  void read_entity(const T& from, Entity& to) {
    if (const auto* lines = from.documentation())
      for (const String* line : *lines) to.documentation.push_back(text_of(line));
    if constexpr (requires { from.attributes(); })
      if (const auto* attributes = from.attributes())
        for (const reflection::KeyValue* pair : *attributes)
          to.attributes[text_of(pair->key())] = text_of(pair->value());
  }

  /// The name of a type or a service.
  Result<void> read_name(const String* from, Entity& to) {
    to.name = text_of(from);
    if (!is_dotted(to.name)) return unsound("", "'" + to.name + "' is no name");
    if (!names_.insert(to.name).second) return unsound(to.name, "is there twice");
    return {};
  }

  /// The name of what is inside another one.
  Result<void> read_name(const String* from, const Entity& outer, Entity& to) {
    const std::string name = text_of(from);
    if (!is_identifier(name)) return unsound(outer.name, "'" + name + "' is no name");
    to.name = outer.name + "." + name;
    // A table may be called as the namespace of another one is: the mark keeps them apart.
    if (!names_.insert(outer.name + ":" + name).second) return unsound(to.name, "is there twice");
    return {};
  }

  Result<void> read_enum(const reflection::Enum& from, Enum& to) {
    RK_TRY_VOID(read_name(from.name(), to));
    read_entity(from, to);
    to.is_union = from.is_union();
    if (from.underlying_type() != nullptr) to.underlying = base_of(*from.underlying_type());
    const bool integer = is_number(to.underlying) && to.underlying < Base::f32;
    if (to.is_union ? to.underlying != Base::union_type : !integer)
      return unsound(to.name, "its values have no type");
    RK_TRY_VOID(each_inside(from.values(), to, to.values));
    for (const EnumValue& value : to.values)
      if (!to.is_union && !fits(to.underlying, value.value))
        return unsound(value.name, "is not of its type");
    return {};
  }

  Result<void> each_inside(const Tables<reflection::EnumVal>* from, const Enum& outer,
                           std::vector<EnumValue>& to) {
    if (from == nullptr) return unsound(outer.name, "has no values");
    for (const reflection::EnumVal* value : *from) {
      EnumValue& into = to.emplace_back();
      RK_TRY_VOID(read_name(value->name(), outer, into));
      read_entity(*value, into);
      into.value = value->value();
    }
    return {};
  }

  Result<void> read_object(const reflection::Object& from, Object& to) {
    RK_TRY_VOID(read_name(from.name(), to));
    read_entity(from, to);
    to.is_struct = from.is_struct();
    if (from.minalign() < 0 || from.bytesize() < 0) return unsound(to.name, "has a negative size");
    to.align = static_cast<std::uint32_t>(from.minalign());
    to.bytes = static_cast<std::uint32_t>(from.bytesize());
    const std::size_t count = from.fields() ? from.fields()->size() : 0;
    to.fields.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const reflection::Field& field = *from.fields()->Get(static_cast<unsigned>(i));
      if (field.id() >= count || !to.fields[field.id()].name.empty())
        return unsound(to.name, "the ids of its fields are not dense");
      RK_TRY_VOID(read_field(field, to, to.fields[field.id()]));
    }
    return {};
  }

  Result<void> read_field(const reflection::Field& from, const Object& outer, Field& to) {
    RK_TRY_VOID(read_name(from.name(), outer, to));
    read_entity(from, to);
    if (from.type() == nullptr) return unsound(to.name, "has no type");
    to.type = {base_of(*from.type()), element_of(*from.type()), from.type()->index(),
               from.type()->fixed_length()};
    (outer.is_struct ? to.offset : to.slot) = from.offset();
    if (!outer.is_struct && from.offset() != 4u + 2u * from.id())
      return unsound(to.name, "is not at its id's place in the vtable");
    to.default_integer = from.default_integer();
    to.default_real = from.default_real();
    to.deprecated = from.deprecated();
    to.required = from.required();
    to.optional = from.optional();
    return {};
  }

  Result<void> read_service(const reflection::Service& from, Service& to) {
    RK_TRY_VOID(read_name(from.name(), to));
    read_entity(from, to);
    if (from.calls() == nullptr) return {};
    for (const reflection::RPCCall* call : *from.calls()) {
      Call& into = to.calls.emplace_back();
      RK_TRY_VOID(read_name(call->name(), to, into));
      read_entity(*call, into);
      RK_TRY(request, table_of(call->request(), into));
      RK_TRY(reply, table_of(call->response(), into));
      into.request = request;
      into.reply = reply;
    }
    return {};
  }

  Result<int> table_of(const reflection::Object* from, const Call& call) const {
    const std::string name = from ? text_of(from->name()) : std::string();
    for (std::size_t i = 0; i < model_.objects.size(); ++i)
      if (model_.objects[i].name == name && !model_.objects[i].is_struct)
        return static_cast<int>(i);
    return unsound(call.name, "takes or gives '" + name + "', which is no table");
  }

  static Base base_of(const reflection::Type& type) { return base_of(int{type.base_type()}); }
  static Base element_of(const reflection::Type& type) { return base_of(int{type.element()}); }
  static Base base_of(int base) {
    return base >= 0 && base < int{base_count} ? static_cast<Base>(base) : Base::none;
  }

  Result<void> check_type(const Object& object, const Field& field) const {
    const Type& type = field.type;
    const bool several = type.base == Base::vector || type.base == Base::array;
    const Base item = type.item();
    const bool nested = several && (item == Base::vector || item == Base::array);
    if (item == Base::none || nested) return unsound(field.name, "its type is none");
    if ((type.base == Base::array) != (type.length != 0))
      return unsound(field.name, "has a wrong length");
    const bool fixed = is_number(item) || item == Base::object;
    if (object.is_struct ? type.base == Base::vector || !fixed : type.base == Base::array)
      return unsound(field.name, "its type cannot be there");
    if (type.index < -1) return unsound(field.name, "its type is none");
    RK_TRY_VOID(check_index(object, field));
    if (is_number(type.base) && !fits(type.base, field.default_integer))
      return unsound(field.name, "its default is not of its type");
    return {};
  }

  Result<void> check_index(const Object& object, const Field& field) const {
    const Base item = field.type.item();
    const auto index = static_cast<std::size_t>(field.type.index);
    if (item == Base::object) {
      if (field.type.index < 0 || index >= objects_) return unsound(field.name, "its type is none");
      if (object.is_struct && !model_.objects[index].is_struct)
        return unsound(field.name, "a table cannot be inside a struct");
    } else if (is_union(item) || (is_number(item) && field.type.index >= 0)) {
      if (field.type.index < 0 || index >= model_.enums.size())
        return unsound(field.name, "its type is none");
      const Enum& type = model_.enums[index];
      if (type.is_union != is_union(item) || (!type.is_union && type.underlying != item))
        return unsound(field.name, "is not of its enum's type");
    }
    return {};
  }

  const reflection::Schema& schema_;
  const SchemaSource& source_;
  Model model_;
  std::size_t objects_ = 0;
  std::set<std::string> names_;
};

}  // namespace

Result<Model> read_model(std::span<const std::byte> bfbs, const SchemaSource& source) {
  if (bfbs.size() > schema_bytes_max)
    return refusal(source, "",
                   "a binary schema of " + std::to_string(bfbs.size()) + " bytes, at most " +
                       std::to_string(schema_bytes_max));
  const std::vector<std::byte> aligned(bfbs.begin(), bfbs.end());
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(aligned.data());
  flatbuffers::Verifier verifier(bytes, aligned.size());
  if (aligned.size() < 8 || !reflection::VerifySchemaBuffer(verifier))
    return refusal(source, "",
                   "these bytes are no binary schema, which `flatc -b --schema` makes of its text");
  return Reader(*reflection::GetSchema(bytes), source).read();
}

}  // namespace ringkernel::program
