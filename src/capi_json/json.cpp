// JSON over the C interface: conversions of our own, and calls of ringkernel.h.
#include "ringkernel/json.hpp"

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "foundation/of_thread.hpp"
#include "ringkernel/ringkernel_json.h"
#include "ringkernel/schema_text.hpp"

namespace ringkernel::capi {
namespace {

/// A codec is one thread's at a time.
class CodecObject {
 public:
  explicit CodecObject(JsonCodec codec) : codec_(std::move(codec)) {}

  template <class Convert>
  auto convert(Convert&& convert) {
    const std::lock_guard lock(mutex_);
    return convert(codec_);
  }

 private:
  std::mutex mutex_;
  JsonCodec codec_;
};

using Codecs = Handles<ringkernel_json, CodecObject>;

/// What the thread's last call gave: its own until the next.
struct Given {
  std::string text;
};

Result<const std::string*> give(std::string text) {
  Given* const given = of_thread<Given>();
  if (given == nullptr) return no_memory();
  given->text = std::move(text);
  return &given->text;
}

Result<void> give_text(std::string text, const char** out) {
  if (out == nullptr) return {};
  RK_TRY(given, give(std::move(text)));
  *out = given->c_str();
  return {};
}

Result<void> give_bytes(Bytes bytes, ringkernel_bytes* out, const char* what) {
  if (out == nullptr) return null_argument(what);
  const char* const data = reinterpret_cast<const char*>(bytes.data());
  RK_TRY(given, give(std::string(data, bytes.size())));
  *out = {.data = const_cast<char*>(given->data()), .data_bytes = given->size()};
  return {};
}

/// The outcome of a function of ringkernel.h, whose error is this library's too.
Result<void> outcome_of(ringkernel_status status) {
  if (status == RINGKERNEL_OK) return {};
  Error error(error_code(status, error_category()));
  const std::string sentence = error.code.message() + ": ";
  const char* const text = ringkernel_last_error();
  const std::string_view whole = text == nullptr ? std::string_view() : text;
  if (whole.starts_with(sentence)) error.detail = whole.substr(sentence.size());
  return error;
}

ringkernel_bytes as_c(std::span<std::byte> bytes) {
  return {.data = bytes.data(), .data_bytes = bytes.size()};
}

/// Of what the kernel's program understands now.
Result<JsonCodec> open_codec(ringkernel_kernel* kernel) {
  ringkernel_bytes schema{};
  ringkernel_bytes behaviour{};
  // With no room it says how much it needs; another version may need more by the time it has it.
  for (;;) {
    std::string schema_room(schema.data_bytes, '\0');
    std::string behaviour_room(behaviour.data_bytes, '\0');
    schema = {.data = schema_room.data(), .data_bytes = schema_room.size()};
    behaviour = {.data = behaviour_room.data(), .data_bytes = behaviour_room.size()};
    const ringkernel_status status = ringkernel_kernel_schema(kernel, &schema, &behaviour);
    if (status == RINGKERNEL_E_message_too_large) continue;
    RK_TRY_VOID(outcome_of(status));
    schema_room.resize(schema.data_bytes);
    behaviour_room.resize(behaviour.data_bytes);
    return JsonCodec::open(Schema::binary("the schema", std::move(schema_room)), behaviour_room);
  }
}

template <class Body>
ringkernel_status with_codec(const ringkernel_json* json, Body&& body) noexcept {
  return guarded([&]() -> Result<void> {
    RK_TRY(codec, Codecs::table().find(json, "json"));
    return body(*codec);
  });
}

Result<std::string> call(CodecObject& codec, ringkernel_kernel* kernel, const char* method,
                         const ringkernel_method& found, std::span<std::byte> request,
                         std::uint64_t timeout_ns) {
  std::vector<std::byte> room(found.reply_bytes);
  const ringkernel_bytes message = as_c(request);
  ringkernel_bytes reply = as_c(room);
  RK_TRY_VOID(outcome_of(ringkernel_call_method(kernel, &found, &message, timeout_ns, &reply)));
  const Bytes answer = Bytes(room).first(reply.data_bytes);
  return codec.convert([&](JsonCodec& by) { return by.from_reply(method, answer); });
}

}  // namespace
}  // namespace ringkernel::capi

// NOLINTBEGIN: the names of the C API
using namespace ringkernel;
using namespace ringkernel::capi;

const char* ringkernel_json_last_error(void) { return last_error_text(); }

ringkernel_status ringkernel_json_open(ringkernel_kernel* kernel, ringkernel_json** out_json) {
  return guarded([&]() -> Result<void> {
    if (out_json == nullptr) return null_argument("out_json");
    RK_TRY(codec, open_codec(kernel));
    *out_json = Codecs::table().add(std::make_shared<CodecObject>(std::move(codec)));
    return {};
  });
}

ringkernel_status ringkernel_json_close(ringkernel_json* json) {
  return guarded([&]() -> Result<void> {
    RK_TRY(codec, Codecs::table().remove(json, "json"));
    return {};
  });
}

ringkernel_status ringkernel_json_call(ringkernel_json* json, ringkernel_kernel* kernel,
                                       const char* method, const char* request, uint64_t timeout_ns,
                                       const char** out_reply) {
  // Before all else: of a call of ringkernel.h before this one, its last fault and version are
  // gone.
  ringkernel_method found{};
  const ringkernel_status is_found = ringkernel_kernel_method(kernel, method, &found);
  return with_codec(json, [&](CodecObject& codec) -> Result<void> {
    if (method == nullptr) return null_argument("method");
    if (request == nullptr) return null_argument("request");
    RK_TRY(bytes, codec.convert([&](JsonCodec& by) { return by.to_request(method, request); }));
    RK_TRY_VOID(outcome_of(is_found));
    RK_TRY(reply, call(codec, kernel, method, found, bytes, timeout_ns));
    return give_text(std::move(reply), out_reply);
  });
}

ringkernel_status ringkernel_json_to_request(ringkernel_json* json, const char* method,
                                             const char* text, ringkernel_bytes* out_request) {
  return with_codec(json, [&](CodecObject& codec) -> Result<void> {
    if (method == nullptr) return null_argument("method");
    if (text == nullptr) return null_argument("text");
    RK_TRY(bytes, codec.convert([&](JsonCodec& by) { return by.to_request(method, text); }));
    return give_bytes(bytes, out_request, "out_request");
  });
}

ringkernel_status ringkernel_json_from_reply(ringkernel_json* json, const char* method,
                                             const ringkernel_bytes* reply, const char** out_text) {
  return with_codec(json, [&](CodecObject& codec) -> Result<void> {
    if (method == nullptr) return null_argument("method");
    if (reply == nullptr) return null_argument("reply");
    if (reply->data == nullptr && reply->data_bytes != 0) return null_argument("reply->data");
    const Bytes bytes(static_cast<const std::byte*>(reply->data), reply->data_bytes);
    RK_TRY(text, codec.convert([&](JsonCodec& by) { return by.from_reply(method, bytes); }));
    return give_text(std::move(text), out_text);
  });
}

ringkernel_status ringkernel_json_read_state(ringkernel_json* json, ringkernel_kernel* kernel,
                                             const char** out_state) {
  return with_codec(json, [&](CodecObject& codec) -> Result<void> {
    std::vector<std::byte> room(codec.convert([](JsonCodec& by) { return by.state_bytes(); }));
    const ringkernel_bytes state = as_c(room);
    RK_TRY_VOID(outcome_of(ringkernel_kernel_read_state(kernel, &state)));
    RK_TRY(text, codec.convert([&](JsonCodec& by) { return by.from_state(room); }));
    return give_text(std::move(text), out_state);
  });
}

ringkernel_status ringkernel_json_write_state(ringkernel_json* json, ringkernel_kernel* kernel,
                                              const char* state) {
  return with_codec(json, [&](CodecObject& codec) -> Result<void> {
    if (state == nullptr) return null_argument("state");
    RK_TRY(bytes, codec.convert([&](JsonCodec& by) { return by.to_state(state); }));
    const ringkernel_bytes given = as_c(bytes);
    return outcome_of(ringkernel_kernel_write_state(kernel, &given));
  });
}

ringkernel_status ringkernel_json_schema(const char* name, const char* text,
                                         ringkernel_bytes* out_schema) {
  return guarded([&]() -> Result<void> {
    if (name == nullptr) return null_argument("name");
    if (text == nullptr) return null_argument("text");
    RK_TRY(schema, schema_from_text(name, text));
    const std::string& binary = schema.source().content();
    return give_bytes(std::as_bytes(std::span(binary)), out_schema, "out_schema");
  });
}
// NOLINTEND
