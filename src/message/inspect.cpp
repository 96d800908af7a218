#include "message/inspect.hpp"

#include <cstring>
#include <string>

#include "message/codec.hpp"

namespace ringkernel::codec {
namespace {

/// Walks the tables of a buffer that nobody vouches for, along the schema. Notes the first part
/// that ends beyond the buffer and the first field that the schema does not have. The schema has no
/// cycle, so the depth is bounded; the number of tables is the verifier's.
class Walk {
 public:
  explicit Walk(std::span<const std::byte> bytes) : bytes_(bytes) {}

  void table(std::uint64_t at, const flatbuffers::TypeTable& type, const std::string& path) {
    if (at == 0 || ++tables_ > verifier_tables_max) return;
    if (!inside(at, sizeof(flatbuffers::soffset_t), path)) return;
    const std::uint64_t vtable =
        at - static_cast<std::uint64_t>(std::int64_t{read<flatbuffers::soffset_t>(at)});
    if (!inside(vtable, entry_bytes, path + "'s vtable")) return;
    const std::uint64_t vtable_bytes = read<flatbuffers::voffset_t>(vtable);
    if (!inside(vtable, vtable_bytes, path + "'s vtable") || vtable_bytes < 2 * entry_bytes) return;
    if (!inside(at, read<flatbuffers::voffset_t>(vtable + entry_bytes), path)) return;
    for (std::uint64_t field = 0; (field + 3) * entry_bytes <= vtable_bytes; ++field) {
      const auto place = read<flatbuffers::voffset_t>(vtable + (field + 2) * entry_bytes);
      if (place == 0) continue;
      if (field >= type.num_elems) {
        if (unknown_.empty()) unknown_ = path + " sets field " + std::to_string(field);
      } else {
        follow(at + place, type, static_cast<std::size_t>(field), path);
      }
    }
  }

  [[nodiscard]] const std::string& cut() const noexcept { return cut_; }
  [[nodiscard]] const std::string& unknown() const noexcept { return unknown_; }
  [[nodiscard]] bool too_many_tables() const noexcept { return tables_ > verifier_tables_max; }

  /// The position that the offset stored at `at` names; 0 if it cannot be read.
  std::uint64_t target(std::uint64_t at, const std::string& path) {
    return inside(at, sizeof(flatbuffers::uoffset_t), path) ? at + read<flatbuffers::uoffset_t>(at)
                                                            : 0;
  }

 private:
  static constexpr std::uint64_t entry_bytes = sizeof(flatbuffers::voffset_t);

  void follow(std::uint64_t at, const flatbuffers::TypeTable& type, std::size_t field,
              const std::string& parent) {
    const flatbuffers::TypeCode code = type.type_codes[field];
    if (!code.is_repeating) return;  // this schema has structs inline, and tables only in vectors
    const bool sequence = code.base_type == flatbuffers::ET_SEQUENCE;
    const std::string path = parent + "." + type.names[field];
    const std::uint64_t vector = target(at, path);
    if (vector == 0 || !inside(vector, sizeof(flatbuffers::uoffset_t), path)) return;
    const std::uint64_t count = read<flatbuffers::uoffset_t>(vector);
    const std::uint64_t first = vector + sizeof(flatbuffers::uoffset_t);
    if (!inside(first, count * (sequence ? sizeof(flatbuffers::uoffset_t) : 1), path)) return;
    for (std::uint64_t i = 0; sequence && i < count && !too_many_tables(); ++i) {
      const std::string element = path + "[" + std::to_string(i) + "]";
      table(target(first + i * sizeof(flatbuffers::uoffset_t), element),
            *type.type_refs[code.sequence_ref](), element);
    }
  }

  bool inside(std::uint64_t at, std::uint64_t length, const std::string& path) {
    if (at <= bytes_.size() && length <= bytes_.size() - at) return true;
    // A message that were longer than any can be was not cut; its offsets are wrong.
    if (cut_.empty() && at <= message_bytes_max && at + length <= message_bytes_max)
      cut_ = path + " ends at byte " + std::to_string(at + length) + ", the message has " +
             std::to_string(bytes_.size());
    return false;
  }

  template <class T>
  T read(std::uint64_t at) const {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }

  std::span<const std::byte> bytes_;
  std::string cut_;
  std::string unknown_;
  std::uint32_t tables_ = 0;
};

Walk walk(std::span<const std::byte> bytes, const flatbuffers::TypeTable& root) {
  Walk walk(bytes);
  walk.table(walk.target(0, "root"), root, "root");
  return walk;
}

}  // namespace

Result<void> check_extent(std::span<const std::byte> bytes) {
  constexpr std::size_t header_bytes =
      sizeof(flatbuffers::uoffset_t) + flatbuffers::kFileIdentifierLength;
  if (bytes.size() > message_bytes_max) [[unlikely]]
    return Error(Errc::message_too_large, std::to_string(bytes.size()) + " bytes, the limit is " +
                                              std::to_string(message_bytes_max));
  if (bytes.size() < header_bytes) [[unlikely]]
    return Error(Errc::truncated_message,
                 std::to_string(bytes.size()) + " bytes do not hold even root and identifier");
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(rk_command) != 0) [[unlikely]]
    return Error(Errc::invalid_argument, "the message does not start at a multiple of 8 bytes");
  return {};
}

Error explain_refusal(std::span<const std::byte> bytes, const flatbuffers::TypeTable& root) {
  if (!flatbuffers::BufferHasIdentifier(bytes.data(), schema::RequestIdentifier()))
    return Error(Errc::malformed_message,
                 std::string("the file identifier is not ") + schema::RequestIdentifier());
  const Walk walked = walk(bytes, root);
  if (!walked.cut().empty()) return Error(Errc::truncated_message, walked.cut());
  if (walked.too_many_tables())
    return Error(Errc::malformed_message,
                 "more than " + std::to_string(verifier_tables_max) + " tables");
  return Error(Errc::malformed_message, "the FlatBuffers verifier refuses it");
}

Result<void> check_fields(std::span<const std::byte> bytes, const flatbuffers::TypeTable& root) {
  const Walk walked = walk(bytes, root);
  // The verifier looks at fields, not at the size that a table states.
  if (!walked.cut().empty()) return Error(Errc::truncated_message, walked.cut());
  if (!walked.unknown().empty()) return Error(Errc::unknown_field, walked.unknown());
  return {};
}

}  // namespace ringkernel::codec
