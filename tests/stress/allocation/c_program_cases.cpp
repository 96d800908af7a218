// Programs of one's own by the C interfaces, and JSON where that is built.
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#include "ringkernel/ringkernel_async.h"
#include "ringkernel/ringkernel_metrics.h"
#include "shop_program.hpp"
#include "stress/allocation/cases.hpp"
#ifdef RK_ALLOCATION_JSON
#include "ringkernel/ringkernel_json.h"
#endif

namespace ringkernel::test::allocation {
namespace {

/// What the C functions have opened.
struct Shop {
  ringkernel_runtime* runtime = nullptr;
  ringkernel_kernel* till = nullptr;
  ringkernel_method total{};
  std::uint64_t free_bytes = 0;  // of the arena, without a kernel
};
Shop shop;

/// The smallest table: a root, an empty vtable, a table without fields.
std::array<std::uint8_t, 12> empty{8, 0, 0, 0, 4, 0, 4, 0, 4, 0, 0, 0};
std::array<std::uint8_t, 256> room;

void expect(ringkernel_status status) {
  if (status != 0) throw std::runtime_error(std::string("C: ") + ringkernel_last_error());
}
Outcome ended_with(World& world, ringkernel_status status, const char* text = nullptr) {
  if (status == 0) return Outcome::success;
  if (status == RINGKERNEL_E_allocation_failure) return Outcome::refused;
  if (text == nullptr) text = ringkernel_last_error();
  return world.complain(text != nullptr ? text : "an error without a text");
}

ringkernel_status add_shop() {
  static const ProgramDesc desc = [] {
    const injection::InDriver aside;
    return shop_program();
  }();
  ringkernel_program program{};
  program.struct_size = sizeof program;
  program.name = "shop";
  program.source_name = desc.source.name().c_str();
  program.source = desc.source.content().c_str();
  program.schema_name = desc.schema.source().name().c_str();
  program.schema = desc.schema.source().content().data();
  program.schema_bytes = desc.schema.source().content().size();
  program.schema_text = desc.schema.text().c_str();
  program.compiled = desc.compiled;
  return ringkernel_program_add(shop.runtime, &program);
}
ringkernel_status swap_shop() {
  ringkernel_program program{};
  program.struct_size = sizeof program;
  program.name = "shop";
  program.source_name = "shop.rk.cl";
  program.source =
      "#include \"shop.rk.h\"\n"
      "RK_ON(Till, Buy) { return RK_OK; }\n"
      "RK_ON(Till, Total) { return RK_OK; }\n"
      "RK_ON(Shelf, Put) { return RK_OK; }\n";
  return ringkernel_program_swap(shop.runtime, &program, nullptr);
}
std::uint64_t free_now() {
  ringkernel_runtime_figures figures{};
  figures.struct_size = sizeof figures;
  expect(ringkernel_runtime_metrics(shop.runtime, &figures));
  return figures.arena_free_bytes;
}

void close_shop() {
  if (shop.runtime != nullptr) expect(ringkernel_runtime_close(shop.runtime));
  shop = {};
}
void without_program(World& world) {
  ringkernel_program_info info{};
  info.struct_size = sizeof info;
  if (shop.runtime != nullptr && ringkernel_program_describe(shop.runtime, "shop", &info) == 0)
    close_shop();
  if (shop.runtime != nullptr) return;
  ringkernel_runtime_options options{};
  options.struct_size = sizeof options;
  options.backend = world.backend.c_str();
  options.arena_bytes = 16 << 20;
  options.call_timeout_ns = options.termination_timeout_ns = 5'000'000'000;
  expect(ringkernel_runtime_open(&options, &shop.runtime));
}
/// The kernel of the round before ends, with all that it had.
void with_program(World& world) {
  if (shop.till != nullptr) {
    expect(ringkernel_kernel_terminate(shop.till, 0));
    expect(ringkernel_kernel_close(shop.till));
    shop.till = nullptr;
    const std::uint64_t free_bytes = free_now();
    if (shop.free_bytes == 0) shop.free_bytes = free_bytes;
    if (shop.free_bytes != free_bytes) throw std::runtime_error("C: bytes of the arena are lost");
  } else {
    without_program(world);
    expect(add_shop());
  }
}
void with_kernel_at_rest(World& world) {
  with_program(world);
  ringkernel_kernel_options options{};
  options.struct_size = sizeof options;
  options.program = "shop";
  options.behaviour = "Till";
  expect(ringkernel_kernel_launch(shop.runtime, "till", &options, &shop.till));
  expect(ringkernel_kernel_method(shop.till, "Total", &shop.total));
}
void with_active(World& world) {
  with_kernel_at_rest(world);
  expect(ringkernel_kernel_activate(shop.till));
}
void with_swapped(World& world) {
  with_active(world);
  expect(swap_shop());
}

Outcome c_add(World& world) { return ended_with(world, add_shop()); }
Outcome c_swap(World& world) { return ended_with(world, swap_shop()); }
Outcome c_swap_back(World& world) {
  return ended_with(world, ringkernel_program_swap_back(shop.runtime, "shop", nullptr));
}
Outcome c_describe(World& world) {
  ringkernel_program_info info{};
  info.struct_size = sizeof info;
  return ended_with(world, ringkernel_program_describe(shop.runtime, "shop", &info));
}
Outcome c_schema(World& world) {
  ringkernel_bytes schema{nullptr, 0};
  ringkernel_bytes behaviour{nullptr, 0};
  const ringkernel_status status = ringkernel_kernel_schema(shop.till, &schema, &behaviour);
  if (status == RINGKERNEL_E_message_too_large) return Outcome::success;  // as large as it is
  return ended_with(world, status);
}
Outcome c_method(World& world) {
  ringkernel_method method{};
  return ended_with(world, ringkernel_kernel_method(shop.till, "Total", &method));
}
Outcome c_call_method(World& world) {
  const ringkernel_bytes request{empty.data(), empty.size()};
  ringkernel_bytes reply{room.data(), room.size()};
  const ringkernel_status called =
      ringkernel_call_method(shop.till, &shop.total, &request, 0, &reply);
  if (called != 0) return ended_with(world, called);
  const ringkernel_status sent =
      ringkernel_send_method(shop.till, &shop.total, &request, 0, nullptr);
  if (sent != 0) return ended_with(world, sent);
  reply.data_bytes = room.size();
  return ended_with(world, ringkernel_receive_bytes(shop.till, 3'000'000'000, &reply, nullptr));
}
Outcome c_call_async(World& world) {
  ringkernel_queue* queue = nullptr;
  ringkernel_status status = ringkernel_queue_open(&queue);
  if (status != 0) return ended_with(world, status);
  const ringkernel_bytes request{empty.data(), empty.size()};
  ringkernel_bytes reply{room.data(), room.size()};
  status =
      ringkernel_call_method_async(shop.till, &shop.total, &request, nullptr, queue, 1, &reply);
  if (status == 0) {
    ringkernel_completion completion{sizeof completion, 0, 0, 0};
    do {
      status = ringkernel_queue_next(queue, 3'000'000'000, &completion);
    } while (status == RINGKERNEL_E_allocation_failure);  // the completion stays
    if (status == 0) status = completion.status;
  }
  const Outcome outcome = ended_with(world, status);
  expect(ringkernel_queue_close(queue));
  return outcome;
}
Outcome c_states(World& world) {
  const ringkernel_bytes state{room.data(), 16};
  const ringkernel_status read = ringkernel_kernel_read_state(shop.till, &state);
  if (read != 0) return ended_with(world, read);
  return ended_with(world, ringkernel_kernel_write_state(shop.till, &state));
}
Outcome c_state_json(World& world) {
  const char* json = nullptr;
  return ended_with(world, ringkernel_kernel_state_json(shop.till, &json));
}
Outcome c_restart(World& world) {
  shop.free_bytes = 0;  // the program's executor gives its own back
  return ended_with(world, ringkernel_runtime_restart(shop.runtime, "shop"));
}

#ifdef RK_ALLOCATION_JSON
Outcome ended_in_json(World& world, ringkernel_status status) {
  return ended_with(world, status, ringkernel_json_last_error());
}
Outcome json_schema(World& world) {
  ringkernel_bytes binary{};
  return ended_in_json(
      world, ringkernel_json_schema(
                 "a.fbs", "namespace a; table Q { x: int; } rpc_service S { Do(Q): Q; }", &binary));
}
Outcome json_call(World& world) {
  ringkernel_json* json = nullptr;
  const char* reply = nullptr;
  ringkernel_status status = ringkernel_json_open(shop.till, &json);
  if (status != 0) return ended_in_json(world, status);
  status = ringkernel_json_call(json, shop.till, "Total", "{}", 0, &reply);
  const Outcome outcome = ended_in_json(world, status);
  expect(ringkernel_json_close(json));
  return outcome;
}
Outcome json_states(World& world) {
  ringkernel_json* json = nullptr;
  const char* state = nullptr;
  ringkernel_status status = ringkernel_json_open(shop.till, &json);
  if (status != 0) return ended_in_json(world, status);
  status = ringkernel_json_read_state(json, shop.till, &state);
  if (status == 0)
    status = ringkernel_json_write_state(json, shop.till,
                                         "{\"purchases\": 7, \"total\": 1, \"coupons\": 0}");
  const Outcome outcome = ended_in_json(world, status);
  expect(ringkernel_json_close(json));
  return outcome;
}
#endif

constexpr Case cases[] = {
    natively({"ringkernel_program_add", without_program, c_add}),
    natively({"ringkernel_program_swap", with_active, c_swap}),
    natively({"ringkernel_program_swap_back", with_swapped, c_swap_back}),
    natively({"ringkernel_program_describe", with_program, c_describe}),
    natively({"ringkernel_kernel_schema", with_active, c_schema}),
    natively({"ringkernel_kernel_method", with_active, c_method}),
    {"ringkernel_call_method, send_method", with_active, c_call_method},
    {"ringkernel_call_method_async", with_active, c_call_async},
    {"ringkernel_kernel_read_state, write_state", with_kernel_at_rest, c_states},
    {"ringkernel_kernel_state_json", with_active, c_state_json},
    {"ringkernel_runtime_restart", with_active, c_restart},
#ifdef RK_ALLOCATION_JSON
    natively({"ringkernel_json_schema", with_program, json_schema}),
    natively({"ringkernel_json_open, call", with_active, json_call}),
    natively({"ringkernel_json_read_state, write_state", with_kernel_at_rest, json_states}),
#endif
};

}  // namespace

std::span<const Case> c_program_cases() { return cases; }

}  // namespace ringkernel::test::allocation
