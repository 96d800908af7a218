/// The messages that `rkc check` sends: for each method as many, in any order, to actors that begin
/// anew after some of them; and behind them, where a state is made of an earlier one, as many
/// earlier states, each to an actor of its own.
///
/// Threading: one thread.
/// Errors: of a schema that the parser does not take.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fields.hpp"
#include "program/plan.hpp"
#include "ringkernel/json.hpp"
#include "ringkernel/program.hpp"
#include "ringkernel/result.hpp"
#include "runs.hpp"

namespace rkc {

/// How a message is told of.
struct Sent {
  std::size_t behaviour = 0;  ///< indices in the plan's behaviours, and in its methods
  std::size_t method = 0;
  bool is_migration = false;  ///< then it has no method
  /// Its fields as JSON; of spoilt bytes, these in hexadecimal; of an old state, its fields.
  std::string shown;
};

class Traffic {
 public:
  [[nodiscard]] static ringkernel::Result<Traffic> make(const ringkernel::Schema& schema,
                                                        std::uint64_t seed, std::size_t count);

  [[nodiscard]] const std::vector<Message>& messages() const noexcept { return messages_; }
  [[nodiscard]] const ringkernel::program::Plan& plan() const noexcept { return plan_; }
  [[nodiscard]] const ringkernel::program::Behaviour& behaviour(std::size_t message) const;
  /// Not of a migration.
  [[nodiscard]] const ringkernel::program::Method& method(std::size_t message) const;
  [[nodiscard]] const std::string& shown(std::size_t message) const { return sent_[message].shown; }
  [[nodiscard]] bool is_migration(std::size_t message) const { return sent_[message].is_migration; }
  /// "Book.Submit", or "RK_MIGRATE(Book)".
  [[nodiscard]] std::string handler(std::size_t message) const;
  /// Of the message's state and reply. A migration has no reply.
  [[nodiscard]] Fields state_fields(std::size_t message) const;
  [[nodiscard]] Fields reply_fields(std::size_t message) const;
  /// Whether the bytes are a reply to it: whatever its fields are, it can be read.
  [[nodiscard]] bool is_reply(std::size_t message, const Bytes& reply) const;

 private:
  [[nodiscard]] const ringkernel::program::Layout& layout(std::size_t message) const;

  explicit Traffic(ringkernel::program::Plan plan) : plan_(std::move(plan)) {}

  ringkernel::Result<void> add_behaviour(std::size_t index, std::uint64_t seed, std::size_t count);
  void add_migrations(std::size_t index, std::uint64_t seed, std::size_t count);
  [[nodiscard]] std::uint32_t next_actor() const;

  ringkernel::program::Plan plan_;
  std::vector<ringkernel::JsonCodec> codecs_;  ///< by behaviour
  std::vector<Message> messages_;
  std::vector<Sent> sent_;
};

}  // namespace rkc
