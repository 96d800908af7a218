// Kernels of a program of one's own: launching, calling, their states.
#include <array>

#include "ringkernel/typed.hpp"
#include "shop_generated.h"
#include "shop_program.hpp"
#include "stress/allocation/cases.hpp"

namespace ringkernel::test::allocation {
namespace {

using injection::Scope;

/// Answers with how many bytes it has been sent so far.
constexpr const char* counter = R"(
RK_ON_BYTES {
  RK_GLOBAL rk_u64* count = (RK_GLOBAL rk_u64*)state;
  if (rk_request_length(self) == 0) return rk_fault(self, 1, 0);
  *count += rk_request_length(self);
  *(RK_GLOBAL rk_u64*)rk_reply_bytes(self) = *count;
  rk_reply_length(self, 8);
  return RK_OK;
}
)";

void added(World& world) {
  if (!world.runtime) world.open();
  world.free_bytes = 0;  // the program stays
  if (world.runtime->program("counter")) return;
  (void)world.runtime
      ->add_program({.name = "counter",
                     .source = Source::text("counter.rk.cl", counter),
                     .state_bytes = 8,
                     .reply_bytes = 8})
      .value();
}
void launched(World& world) {
  added(world);
  world.kernel =
      world.runtime->launch("main", {.program = "counter", .auto_activate = true}).value();
}
void resting(World& world) {
  launched(world);
  (void)world.kernel.deactivate().value();
}

/// A runtime that does not have the program yet; it stays where adding fails.
void without_shop(World& world) {
  if (world.runtime && world.runtime->program("shop")) (void)world.closes();
  if (!world.runtime) world.open();
}
/// A program with a schema.
void with_till(World& world) {
  if (!world.runtime) world.open();
  world.free_bytes = 0;
  if (!world.runtime->program("shop")) (void)world.runtime->add_program(shop_program()).value();
  world.kernel =
      world.runtime->launch("main", {.program = "shop", .behaviour = "Till", .auto_activate = true})
          .value();
}
ProgramDesc other_counter() {
  static bool other = false;
  other = !other;
  return {
      .name = "counter",
      .source = Source::text("counter.rk.cl",
                             std::string(counter) + (other ? "RK_FN void other(void) {}\n" : ""))};
}
void swapped(World& world) {
  launched(world);
  (void)world.runtime->swap_program(other_counter()).value();
}

Outcome add_program(World& world) {
  ProgramDesc program;
  {
    const injection::InDriver aside;
    program = shop_program();
  }
  const Result<ProgramInfo> added = world.runtime->add_program(program);
  if (added) world.free_bytes = 0;  // it has a place in the arena
  return world.of(added);
}
Outcome launch(World& world) {
  Result<Kernel> kernel =
      world.runtime->launch("main", {.program = "counter", .auto_activate = true});
  if (kernel) world.kernel = *kernel;
  return world.of(kernel);
}
Outcome call(World& world) {
  const std::array<std::byte, 24> message{};
  return world.of(world.kernel.call(message));
}
/// The handler refuses it: that, or that there is no memory.
Outcome call_that_faults(World& world) {
  const Result<Reply> reply = world.kernel.call(Bytes());
  if (!reply && reply.error() == Errc::handler_fault && reply.error().fault_code == 1)
    return Outcome::success;
  return reply ? world.complain("no fault") : world.of(reply);
}
/// The same handler, of which each text is another build, and which the cache has after the first
/// rounds.
Outcome swap(World& world) {
  ProgramDesc next;
  {
    const injection::InDriver aside;
    next = other_counter();
  }
  return world.of(world.runtime->swap_program(next));
}
Outcome swap_back(World& world) { return world.of(world.runtime->swap_back("counter")); }
Outcome program(World& world) { return world.of(world.runtime->program("counter")); }
Outcome method(World& world) {
  const Result<Method> found = world.kernel.method("Submit");
  if (!found && found.error() == Errc::unsupported_operation) return Outcome::success;
  return found ? world.complain("a method") : world.of(found);
}
Outcome read_state(World& world) { return world.of(world.kernel.read_state<std::uint64_t>()); }
Outcome write_state(World& world) { return world.of(world.kernel.write_state(std::uint64_t{7})); }
Outcome interface(World& world) { return world.of(world.kernel.interface()); }
Outcome state_json(World& world) { return world.of(world.kernel.state_json()); }
Outcome typed_call(World& world) {
  flatbuffers::FlatBufferBuilder question;
  {
    const injection::InDriver aside;
    question.Finish(::shop::CreateQuestion(question));
  }
  const auto sum = world.kernel.call<::shop::Sum>("Total", typed<::shop::Question>(question));
  if (sum && (*sum)->purchases() != 0) return world.complain("another sum");
  return world.of(sum);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool keeps_buffers = false;  // MessageBuffer
#else
constexpr bool keeps_buffers = true;
#endif

/// A method that was looked up, called as before: nothing is allocated any more, so nothing fails.
/// With two memories something may be, which the call can do without.
Outcome call_again(World& world) {
  TypedMethod<::shop::Question, ::shop::Sum> total;
  flatbuffers::FlatBufferBuilder question;
  {
    const injection::InDriver aside;
    total = world.kernel.method<::shop::Question, ::shop::Sum>("Total").value();
    question.Finish(::shop::CreateQuestion(question));
    for (int i = 0; i < 3; ++i) (void)world.kernel.call(total(question)).value();
  }
  const auto sum = world.kernel.call(total(question));
  if (!sum && keeps_buffers) return world.complain("it allocates: " + sum.error().text());
  return world.of(sum);
}

constexpr Case cases[] = {
    {"add_program", without_shop, add_program},
    {"launch, of one's own program", added, launch},
    {"call, of one's own program", launched, call},
    {"call that faults", launched, call_that_faults},
    {"swap_program", launched, swap},
    {"swap_back", swapped, swap_back},
    {"program", added, program},
    {"method", launched, method},
    {"read_state", resting, read_state},
    {"write_state", resting, write_state},
    {"state_json", with_till, state_json},
    natively({"interface", with_till, interface}),
    {"call of a method, by its name", with_till, typed_call},
    {"call of a method, again", with_till, call_again},
};

}  // namespace

std::span<const Case> program_cases() { return cases; }

}  // namespace ringkernel::test::allocation
