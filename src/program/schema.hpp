/// A program's interface, as its FlatBuffers schema says it: behaviours with their methods and
/// states, and the text that the device program gets from it.
///
/// Threading: distinct objects safe, shared objects unsafe.
/// Errors: `invalid_argument`, "trading.fbs:7: trading.Order.what: reason".
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringkernel/result.hpp"

namespace ringkernel::program {

/// Behaviours of one program, and methods of one behaviour.
inline constexpr std::size_t behaviours_max = 32;
inline constexpr std::size_t methods_max = 64;
/// Bytes of a binary schema, and of one reply.
inline constexpr std::size_t schema_bytes_max = std::size_t{1} << 20;
inline constexpr std::size_t reply_bytes_max = std::size_t{1} << 20;

using Lines = std::map<std::string, std::uint32_t, std::less<>>;

/// Where a schema came from, for messages and `#line`.
struct SchemaSource {
  std::string file;  ///< "trading.fbs"
  Lines lines;       ///< of full names ("trading.Book.Submit"), as far as they are known
};

/// Where a schema's text declares its types, fields and methods. A scan, which needs no parser and
/// sees no included file; what it cannot read it leaves out.
Lines find_lines(std::string_view schema);

/// One kind of message that a behaviour takes.
struct Method {
  std::string name;       ///< "Submit"
  std::string full_name;  ///< "trading.Book.Submit"
  std::uint32_t id = 0;   ///< FNV-1a of the full name: the selector of its messages
  std::string request;    ///< full names of tables
  std::string reply;
  std::uint32_t reply_bytes = 0;  ///< of a reply at most: its layout is fixed
};

/// A struct whose bytes outlive a program.
struct StateLayout {
  std::string name;  ///< full name of the struct
  std::uint32_t bytes = 0;
  std::uint64_t layout_hash = 0;  ///< over the names, types and places of all fields
};

/// What a ring kernel of the behaviour keeps from message to message.
struct State : StateLayout {
  std::uint32_t version = 0;            ///< 0 where the schema gives none
  std::optional<StateLayout> migrates;  ///< the earlier state that its RK_MIGRATE takes
};

/// A kind of actor: a service of the schema.
struct Behaviour {
  std::string name;       ///< "Book"
  std::string full_name;  ///< "trading.Book"
  std::uint32_t id = 0;   ///< FNV-1a of the full name
  std::optional<State> state;
  std::vector<Method> methods;  ///< in the schema's order

  /// By its name or its full name; null where there is none.
  [[nodiscard]] const Method* find_method(std::string_view method) const;
};

/// A field as bytes have it.
struct WireField {
  std::string name;  ///< full name
  std::string type;  ///< what it is and what it defaults to: two are alike if this is
  bool required = false;
};
/// The tables of requests and replies, by their full names; their fields by their slots.
using WireTables = std::map<std::string, std::map<std::uint32_t, WireField>, std::less<>>;

/// The names of behaviours or methods, for a sentence: "Submit, Drop".
template <class T>
[[nodiscard]] std::string names_of(const std::vector<T>& all) {
  std::string text;
  for (const T& one : all) (text += text.empty() ? "" : ", ") += one.name;
  return text;
}

struct Model;  // model.hpp

/// FNV-1a, 32 bits.
std::uint32_t name_id(std::string_view full_name);

class Schema {
 public:
  /// From the schema's binary form (`flatc -b --schema`, best with --bfbs-comments and
  /// --bfbs-builtins), which nobody has to vouch for.
  static Result<Schema> from_binary(std::span<const std::byte> bfbs, const SchemaSource& source);

  [[nodiscard]] const std::vector<Behaviour>& behaviours() const { return behaviours_; }
  /// By its name or its full name; null where there is none.
  [[nodiscard]] const Behaviour* find_behaviour(std::string_view behaviour) const;

  [[nodiscard]] const WireTables& tables() const { return tables_; }

  /// A state of one of its behaviours as JSON (struct_json.hpp); `bytes`: as many as it has.
  [[nodiscard]] std::string state_json(const State& state, std::span<const std::byte> bytes) const;

  /// "trading.rk.h", under which a handler's source includes the header.
  [[nodiscard]] const std::string& header_name() const { return header_name_; }
  /// Types, readers and writers.
  [[nodiscard]] const std::string& device_header() const { return header_; }
  /// What follows the handlers' source in the same unit: `rk_handle`.
  [[nodiscard]] const std::string& device_dispatch() const { return dispatch_; }

 private:
  std::vector<Behaviour> behaviours_;
  WireTables tables_;
  std::shared_ptr<const Model> model_;
  std::string header_name_;
  std::string header_;
  std::string dispatch_;
};

/// A file of handlers.
struct HandlerText {
  std::string name;
  std::string text;
};

/// What compilers tell badly, said well: handlers in these files, of which the first is not a
/// header, for methods that there are not, and methods without a handler. A line for each:
/// "book.rk.cl:32: Book has no method Sumbit; it has Submit".
std::vector<std::string> find_handler_mistakes(const Schema& schema, const SchemaSource& from,
                                               std::span<const HandlerText> files);

/// What a compiler cannot know of a line of the handlers.
struct ReplyMistake {
  std::string file;
  std::uint32_t line = 0;
  std::string remedy;  ///< "the reply has no member limit: use Ack_set_limit"
};

/// Likewise: `reply->limit` of an optional field, which a function writes, and what the schema
/// gives no (max: n). A scan, which sees what `#if` leaves out, too.
std::vector<ReplyMistake> find_reply_mistakes(const Schema& schema,
                                              std::span<const HandlerText> files);

/// Whether the preprocessor may make handlers of the source, or leave some out: then what is found
/// without it need not be so.
bool may_hide_handlers(std::string_view source);

}  // namespace ringkernel::program
