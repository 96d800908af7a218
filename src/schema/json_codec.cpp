#include <flatbuffers/idl.h>
#include <flatbuffers/reflection.h>

#include <algorithm>
#include <utility>

#include "foundation/memory_error.hpp"
#include "program/schema.hpp"
#include "program/source_content.hpp"
#include "ringkernel/json.hpp"
#include "schema/parser_message.hpp"

namespace ringkernel {
namespace {

// The table that holds a state while it is JSON, because a root is always a table.
constexpr std::string_view holder_name = "rk_json.Holder";
constexpr std::string_view holder_begin = R"({"value": )";

Result<const program::Behaviour*> find(const program::Schema& schema, std::string_view name) {
  const std::vector<program::Behaviour>& all = schema.behaviours();
  const program::Behaviour* found = nullptr;
  if (!name.empty())
    found = schema.find_behaviour(name);
  else if (all.size() == 1)
    found = all.data();
  if (found != nullptr) return found;
  return Error(Errc::invalid_argument,
               name.empty() ? "the schema has several behaviours: " + program::names_of(all)
                            : "no behaviour '" + std::string(name) + "'; the schema has " +
                                  program::names_of(all));
}

flatbuffers::IDLOptions options_of_json() {
  flatbuffers::IDLOptions options;
  options.strict_json = true;
  options.indent_step = -1;  // one line
  options.output_default_scalars_in_json = true;
  return options;
}

const std::uint8_t* as_u8(const void* bytes) { return static_cast<const std::uint8_t*>(bytes); }

}  // namespace

class JsonCodec::Impl {
 public:
  Impl(std::string bfbs, program::Behaviour behaviour)
      : bfbs_(std::move(bfbs)), behaviour_(std::move(behaviour)), parser_(options_of_json()) {}

  Result<void> read_schema() {
    bool is_read = parser_.Deserialize(as_u8(bfbs_.data()), bfbs_.size());
    if (is_read && behaviour_.state) {
      const std::string holder =
          "namespace rk_json; table Holder { value: " + behaviour_.state->name + "; }";
      is_read = parser_.Parse(holder.c_str());
    }
    if (is_read) return {};
    return Error(Errc::invalid_argument,
                 "FlatBuffers' parser does not take the schema: " + parser_.error_);
  }

  Result<std::vector<std::byte>> to_request(std::string_view method_name, std::string_view json) {
    RK_TRY(method, find_method(method_name));
    return parse(method->request, method->name, std::string(json));
  }

  Result<std::string> from_reply(std::string_view method_name, Bytes reply) {
    RK_TRY(method, find_method(method_name));
    if (!is_table(method->reply, reply))
      return Error(Errc::malformed_message, "the reply is no " + method->reply);
    return print(method->reply, reply.data());
  }

  Result<std::vector<std::byte>> to_state(std::string_view json) {
    RK_TRY(state, find_state());
    std::string held(holder_begin);
    held += json;
    held += "\n}";
    RK_TRY(buffer, parse(std::string(holder_name), state->name, held));
    const auto* const holder = flatbuffers::GetRoot<flatbuffers::Table>(buffer.data());
    const std::uint8_t* const value = holder->GetStruct<const std::uint8_t*>(4);
    if (value == nullptr) return Error(Errc::malformed_request, state->name + ": null is no state");
    const auto* const bytes = reinterpret_cast<const std::byte*>(value);
    return std::vector<std::byte>(bytes, bytes + state->bytes);
  }

  Result<std::string> from_state(Bytes bytes) {
    RK_TRY(state, find_state());
    if (bytes.size() != state->bytes)
      return Error(Errc::state_mismatch, std::to_string(bytes.size()) + " bytes are no " +
                                             state->name + ", which has " +
                                             std::to_string(state->bytes));
    flatbuffers::FlatBufferBuilder builder;
    const auto start = builder.StartTable();
    builder.Align(alignof(std::max_align_t));
    builder.PushBytes(as_u8(bytes.data()), bytes.size());
    builder.AddStructOffset(4, builder.GetSize());
    builder.Finish(flatbuffers::Offset<flatbuffers::Table>(builder.EndTable(start)));
    RK_TRY(held, print(std::string(holder_name), builder.GetBufferPointer()));
    return held.substr(holder_begin.size(), held.size() - holder_begin.size() - 1);
  }

  [[nodiscard]] std::uint32_t state_bytes() const {
    return behaviour_.state ? behaviour_.state->bytes : 0;
  }

 private:
  Result<const program::Method*> find_method(std::string_view name) const {
    if (const program::Method* const method = behaviour_.find_method(name)) return method;
    return Error(Errc::unknown_method, behaviour_.full_name + " has no method '" +
                                           std::string(name) + "'; it has " +
                                           program::names_of(behaviour_.methods));
  }

  Result<const program::State*> find_state() const {
    if (behaviour_.state) return &*behaviour_.state;
    return Error(Errc::state_mismatch, behaviour_.full_name + " has no state");
  }

  [[nodiscard]] bool is_table(std::string_view name, Bytes bytes) const {
    // Verify follows the offset of the root unseen.
    if (bytes.size() < 8 || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE ||
        flatbuffers::ReadScalar<flatbuffers::uoffset_t>(bytes.data()) > bytes.size() - 4)
      return false;
    const reflection::Schema& schema = *reflection::GetSchema(bfbs_.data());
    const auto& tables = *schema.objects();
    const auto table = std::find_if(tables.begin(), tables.end(), [&](const auto* object) {
      return object->name()->string_view() == name;
    });
    return table != tables.end() &&
           flatbuffers::Verify(schema, **table, as_u8(bytes.data()), bytes.size());
  }

  Result<std::vector<std::byte>> parse(const std::string& table, const std::string& what,
                                       const std::string& json) {
    const auto refused = [](std::string reason) {
      return Error(Errc::malformed_request, std::move(reason));
    };
    if (json.find('\0') != std::string::npos) return refused(what + ": a zero byte in the JSON");
    // ParseJson, because Parse takes schemas, and files that they include, from the caller.
    if (!parser_.SetRootType(table.c_str()) || !parser_.ParseJson(json.c_str(), what.c_str()))
      return refused(program::first_reason(parser_.error_, what));
    const std::uint8_t* const bytes = parser_.builder_.GetBufferPointer();
    if (bytes == nullptr || parser_.builder_.GetSize() == 0) return refused(what + ": no JSON");
    const auto* const begin = reinterpret_cast<const std::byte*>(bytes);
    return std::vector<std::byte>(begin, begin + parser_.builder_.GetSize());
  }

  /// Bytes that are known to be such a table.
  Result<std::string> print(const std::string& table, const void* bytes) {
    std::string json;
    if (!parser_.SetRootType(table.c_str()) || !flatbuffers::GenerateText(parser_, bytes, &json))
      return Error(Errc::malformed_message, "a text of the " + table + " is not UTF-8");
    return json;
  }

  std::string bfbs_;
  program::Behaviour behaviour_;
  flatbuffers::Parser parser_;
};

Result<JsonCodec> JsonCodec::open(const Schema& schema, std::string_view behaviour) {
  return or_no_memory([&]() -> Result<JsonCodec> {
    if (schema.source().is_empty()) return Error(Errc::invalid_argument, "there is no schema");
    RK_TRY(bfbs, program::content_of(schema.source()));
    // First, because it is what finds unsound bytes.
    RK_TRY(ours, program::Schema::from_binary(std::as_bytes(std::span(bfbs)),
                                              {schema.source().name(), {}}));
    RK_TRY(found, find(ours, behaviour));
    auto impl = std::make_unique<Impl>(std::move(bfbs), *found);
    RK_TRY_VOID(impl->read_schema());
    return JsonCodec(std::move(impl));
  });
}

Result<std::vector<std::byte>> JsonCodec::to_request(std::string_view method,
                                                     std::string_view json) {
  return or_no_memory([&] { return impl_->to_request(method, json); });
}

Result<std::string> JsonCodec::from_reply(std::string_view method, Bytes reply) {
  return or_no_memory([&] { return impl_->from_reply(method, reply); });
}

std::uint32_t JsonCodec::state_bytes() const noexcept { return impl_->state_bytes(); }

Result<std::vector<std::byte>> JsonCodec::to_state(std::string_view json) {
  return or_no_memory([&] { return impl_->to_state(json); });
}

Result<std::string> JsonCodec::from_state(Bytes state) {
  return or_no_memory([&] { return impl_->from_state(state); });
}

JsonCodec::JsonCodec(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}
JsonCodec::JsonCodec(JsonCodec&&) noexcept = default;
JsonCodec& JsonCodec::operator=(JsonCodec&&) noexcept = default;
JsonCodec::~JsonCodec() = default;

}  // namespace ringkernel
