#include "program/model.hpp"

#include <algorithm>
#include <array>

namespace ringkernel::program {
namespace {

struct Number {
  std::string_view suffix;
  std::uint32_t bytes;
};
// By Base; what is no number has no bytes.
constexpr std::array<Number, base_count> numbers{{{"", 0},
                                                  {"u8", 1},
                                                  {"u8", 1},
                                                  {"i8", 1},
                                                  {"u8", 1},
                                                  {"i16", 2},
                                                  {"u16", 2},
                                                  {"i32", 4},
                                                  {"u32", 4},
                                                  {"i64", 8},
                                                  {"u64", 8},
                                                  {"f32", 4},
                                                  {"f64", 8}}};

constexpr std::uint32_t align_max = 64;
constexpr int depth_max = 64;
/// Of FlatBuffers' reflection, which keeps offsets in 16 bits.
constexpr std::uint64_t field_offset_max = 65535;

/// Walks the structs depth first.
class Structs {
 public:
  Structs(const Model& model, const SchemaSource& source)
      : model_(model), source_(source), marks_(model.objects.size(), Mark::fresh) {}

  Result<void> check(std::size_t index, int depth = 0) {
    const Object& object = model_.objects[index];
    if (!object.is_struct || marks_[index] == Mark::done) return {};
    if (marks_[index] == Mark::open) return refusal(source_, object.name, "is inside itself");
    if (depth > depth_max) return refusal(source_, object.name, "is inside too many structs");
    marks_[index] = Mark::open;
    std::uint64_t end = 0;
    std::uint32_t align = 1;
    for (const Field& field : object.fields) {
      if (field.type.item() == Base::object)
        RK_TRY_VOID(check(static_cast<std::size_t>(field.type.index), depth + 1));
      const auto [bytes, own_align] = extent(field.type);
      end = round_up(end, own_align);
      if (field.offset != end)
        return refusal(source_, field.name,
                       end > field_offset_max
                           ? "begins behind the first 65535 bytes of its struct, which a schema "
                             "cannot say: put the largest array last"
                           : "is not where C would lay it out");
      end += bytes;
      align = std::max(align, own_align);
    }
    const bool power_of_two = object.align != 0 && (object.align & (object.align - 1)) == 0;
    if (!power_of_two || object.align < align || object.align > align_max)
      return refusal(source_, object.name,
                     "is aligned to " + std::to_string(object.align) + " bytes");
    if (end == 0 || object.bytes != round_up(end, object.align))
      return refusal(source_, object.name, "has not the bytes of its fields");
    marks_[index] = Mark::done;
    return {};
  }

 private:
  enum class Mark : std::uint8_t { fresh, open, done };
  struct Extent {
    std::uint64_t bytes;
    std::uint32_t align;
  };

  static std::uint64_t round_up(std::uint64_t value, std::uint32_t align) {
    return (value + align - 1) / align * align;
  }

  [[nodiscard]] Extent extent(const Type& type) const {
    const std::uint64_t count = type.base == Base::array ? type.length : 1;
    if (type.item() != Base::object) {
      const std::uint32_t bytes = bytes_of(type.item());
      return {count * bytes, bytes};
    }
    const Object& inner = model_.objects[static_cast<std::size_t>(type.index)];
    return {count * inner.bytes, inner.align};
  }

  const Model& model_;
  const SchemaSource& source_;
  std::vector<Mark> marks_;
};

}  // namespace

std::uint32_t bytes_of(Base base) { return numbers[static_cast<std::size_t>(base)].bytes; }
std::string_view suffix_of(Base base) { return numbers[static_cast<std::size_t>(base)].suffix; }

std::string_view Entity::short_name() const {
  const std::string_view full = name;
  return full.substr(full.rfind('.') + 1);
}

std::string_view Entity::name_space() const {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? std::string_view() : std::string_view(name).substr(0, dot);
}

bool Entity::has(std::string_view attribute) const {
  return attributes.find(attribute) != attributes.end();
}

Result<void> check_structs(const Model& model, const SchemaSource& source) {
  Structs structs(model, source);
  for (std::size_t i = 0; i < model.objects.size(); ++i) RK_TRY_VOID(structs.check(i));
  return {};
}

std::string union_name(const Field& field) {
  constexpr std::string_view suffix = "_type";
  const bool tells = field.type.item() == Base::union_type && field.name.ends_with(suffix);
  return field.name.substr(0, field.name.size() - (tells ? suffix.size() : 0));
}

Error refusal(const SchemaSource& source, std::string_view full_name, std::string_view reason) {
  std::string text = source.file;
  const auto line = source.lines.find(full_name);
  if (line != source.lines.end()) text += ":" + std::to_string(line->second);
  text += ": ";
  if (!full_name.empty()) (text += full_name) += ": ";
  text += reason;
  return Error(Errc::invalid_argument, text);
}

}  // namespace ringkernel::program
