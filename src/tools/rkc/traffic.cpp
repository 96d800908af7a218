#include "traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "program/source_content.hpp"
#include "random.hpp"
#include "samples.hpp"

namespace rkc {

namespace {

using ringkernel::Error;
using ringkernel::JsonCodec;
using ringkernel::Result;
using ringkernel::program::Behaviour;
using ringkernel::program::Layout;
using ringkernel::program::Member;
using ringkernel::program::Method;
using ringkernel::program::Object;
using ringkernel::program::Plan;
using ringkernel::program::Presence;
using ringkernel::program::vtable_position;
using ringkernel::program::Written;
using ringkernel::program::WrittenField;

constexpr std::size_t messages_of_an_actor = 32;
/// One of as many messages is spoilt.
constexpr std::uint64_t spoilt_one_in = 6;

const Object& table_of(const Plan& plan, const std::string& name) {
  return *std::ranges::find(plan.model.objects, name, &Object::name);
}

std::string hexadecimal(const Bytes& bytes) {
  std::string text = fmt::format("{} spoilt bytes ", bytes.size());
  for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

}  // namespace

Result<Traffic> Traffic::make(const ringkernel::Schema& schema, std::uint64_t seed,
                              std::size_t count) {
  RK_TRY(bfbs, ringkernel::program::content_of(schema.source()));
  const ringkernel::program::SchemaSource source{schema.source().name(), {}};
  RK_TRY(model, ringkernel::program::read_model(std::as_bytes(std::span(bfbs)), source));
  RK_TRY(plan, ringkernel::program::make_plan(std::move(model), source));
  Traffic traffic(std::move(plan));
  for (std::size_t i = 0; i < traffic.plan_.behaviours.size(); ++i) {
    RK_TRY(codec, JsonCodec::open(schema, traffic.plan_.behaviours[i].full_name));
    traffic.codecs_.push_back(std::move(codec));
    RK_TRY_VOID(traffic.add_behaviour(i, seed, count));
    if (traffic.plan_.old_states[i] >= 0) traffic.add_migrations(i, seed, count);
  }
  return traffic;
}

Result<void> Traffic::add_behaviour(std::size_t index, std::uint64_t seed, std::size_t count) {
  const Behaviour& behaviour = plan_.behaviours[index];
  Random random(seed + index);
  const std::size_t messages = count * behaviour.methods.size();
  const std::size_t first_actor = next_actor();
  for (std::size_t i = 0; i < messages; ++i) {
    // The first ones are one of each, so that no method is left out.
    const std::size_t methods = behaviour.methods.size();
    const std::size_t chosen = i < methods ? i : random.below(methods);
    const Method& method = behaviour.methods[chosen];
    const std::string json = sample_of(plan_.model, table_of(plan_, method.request), random);
    RK_TRY(payload, codecs_[index].to_request(method.name, json));
    const bool is_spoilt = random.one_in(spoilt_one_in);
    if (is_spoilt) spoil(payload, random);
    const std::size_t actor = first_actor + i / messages_of_an_actor;
    Message message;
    message.head = {.actor = static_cast<std::uint32_t>(actor),
                    .behaviour = behaviour.id,
                    .selector = method.id,
                    .payload_bytes = static_cast<std::uint32_t>(payload.size()),
                    .reply_bytes = method.reply_bytes,
                    .state_bytes = behaviour.state ? behaviour.state->bytes : 0,
                    .has_state = 0,
                    .is_migration = 0};
    sent_.push_back({index, chosen, false, is_spoilt ? hexadecimal(payload) : json});
    message.payload = std::move(payload);
    messages_.push_back(std::move(message));
  }
  return {};
}

void Traffic::add_migrations(std::size_t index, std::uint64_t seed, std::size_t count) {
  const Behaviour& behaviour = plan_.behaviours[index];
  const Object& old_state = plan_.object(plan_.old_states[index]);
  const Fields fields = Fields::of(plan_, old_state);
  Random random(seed + index);
  for (std::size_t i = 0; i < count; ++i) {
    Message message;
    message.payload = struct_sample_of(plan_.model, old_state, random);
    message.head = {.actor = next_actor(),
                    .behaviour = behaviour.id,
                    .selector = 0,
                    .payload_bytes = old_state.bytes,
                    .reply_bytes = 0,
                    .state_bytes = behaviour.state->bytes,
                    .has_state = 0,
                    .is_migration = 1};
    sent_.push_back({index, 0, true, fields.text(message.payload)});
    messages_.push_back(std::move(message));
  }
}

std::uint32_t Traffic::next_actor() const {
  return messages_.empty() ? 0 : messages_.back().head.actor + 1;
}

const Behaviour& Traffic::behaviour(std::size_t message) const {
  return plan_.behaviours[sent_[message].behaviour];
}

const Method& Traffic::method(std::size_t message) const {
  return behaviour(message).methods[sent_[message].method];
}

std::string Traffic::handler(std::size_t message) const {
  if (is_migration(message)) return fmt::format("RK_MIGRATE({})", behaviour(message).name);
  return fmt::format("{}.{}", behaviour(message).name, method(message).name);
}

Fields Traffic::state_fields(std::size_t message) const {
  const int state = plan_.states[sent_[message].behaviour];
  return state < 0 ? Fields() : Fields::of(plan_, plan_.object(state));
}

const Layout& Traffic::layout(std::size_t message) const {
  const auto is_its = [&](const Written& written) {
    return plan_.object(written.table).name == method(message).reply;
  };
  return std::ranges::find_if(plan_.written, is_its)->layout;
}

Fields Traffic::reply_fields(std::size_t message) const {
  if (is_migration(message)) return {};
  return Fields::of(plan_, layout(message));
}

bool Traffic::is_reply(std::size_t message, const Bytes& reply) const {
  if (is_migration(message)) return reply.empty();
  const Layout& table = layout(message);
  const auto word = [&](std::uint32_t at) { return load<std::uint32_t>(reply, at); };
  const auto slot = [&](std::uint32_t index) {
    return load<std::uint16_t>(reply, vtable_position + 2 * index);
  };
  if (reply.size() < table.bytes || word(0) != table.table || slot(0) != table.vtable_bytes ||
      slot(1) != table.table_bytes || word(table.table) != table.table - vtable_position)
    return false;
  // Whoever writes behind the room for a list writes there, if not into the next field.
  for (const Member& member : table.members) {
    if (!member.name.starts_with("rk_pad")) continue;
    const auto padding = std::span(reply).subspan(member.offset, member.count);
    if (std::ranges::any_of(padding, [](std::byte byte) { return byte != std::byte{0}; }))
      return false;
  }
  return std::ranges::all_of(table.fields, [&](const WrittenField& field) {
    const std::uint32_t place = slot(static_cast<std::uint32_t>(field.field) + 2);
    if (place == 0) return field.presence != Presence::always;
    if (place != field.place) return false;
    const std::uint32_t at = table.table + field.place;
    return field.presence != Presence::list ||
           (word(at) == field.distance && word(at + field.distance) <= field.max);
  });
}

}  // namespace rkc
