/// The extension module `pyringkernel._json`, for pyringkernel/schema.py.
#include "python/errors.hpp"
#include "ringkernel/json.hpp"
#include "ringkernel/schema_text.hpp"

namespace ringkernel::python {
namespace {

Bytes bytes_of(const nb::bytes& bytes) {
  return {static_cast<const std::byte*>(bytes.data()), bytes.size()};
}
nb::bytes bytes_from(const std::vector<std::byte>& bytes) {
  return nb::bytes(bytes.data(), bytes.size());
}

nb::bytes from_text(std::string name, std::string text) {
  const Schema schema = value_of(schema_from_text(std::move(name), std::move(text)));
  const std::string& binary = schema.source().content();
  return nb::bytes(binary.data(), binary.size());
}

JsonCodec open_codec(const nb::bytes& schema, const std::string& behaviour) {
  std::string binary(schema.c_str(), schema.size());
  return value_of(JsonCodec::open(Schema::binary("the schema", std::move(binary)), behaviour));
}

}  // namespace
}  // namespace ringkernel::python

NB_MODULE(_json, module) {
  using namespace ringkernel::python;
  nb::set_leak_warnings(false);
  module.def("schema_from_text", &from_text, "name"_a, "text"_a, "The binary form of a schema.");
  nb::class_<ringkernel::JsonCodec>(module, "Codec", "Messages and state of one behaviour as JSON.")
      .def(nb::new_(&open_codec), "schema"_a, "behaviour"_a)
      .def(
          "to_request",
          [](ringkernel::JsonCodec& codec, const std::string& method, const std::string& json) {
            return bytes_from(value_of(codec.to_request(method, json)));
          },
          "method"_a, "json"_a)
      .def(
          "from_reply",
          [](ringkernel::JsonCodec& codec, const std::string& method, const nb::bytes& reply) {
            return value_of(codec.from_reply(method, bytes_of(reply)));
          },
          "method"_a, "reply"_a)
      .def_prop_ro("state_bytes", &ringkernel::JsonCodec::state_bytes)
      .def(
          "to_state",
          [](ringkernel::JsonCodec& codec, const std::string& json) {
            return bytes_from(value_of(codec.to_state(json)));
          },
          "json"_a)
      .def(
          "from_state",
          [](ringkernel::JsonCodec& codec, const nb::bytes& state) {
            return value_of(codec.from_state(bytes_of(state)));
          },
          "state"_a);
}
