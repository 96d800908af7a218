// Kernels of a program of one's own: launching, calling, their states.
#include <array>

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
  static bool other = false;
  ProgramDesc next;
  {
    const injection::InDriver aside;
    other = !other;
    next = {
        .name = "counter",
        .source = Source::text(
            "counter.rk.cl", std::string(counter) + (other ? "RK_FN void other(void) {}\n" : ""))};
  }
  return world.of(world.runtime->swap_program(next));
}
Outcome program(World& world) { return world.of(world.runtime->program("counter")); }
Outcome method(World& world) {
  const Result<Method> found = world.kernel.method("Submit");
  if (!found && found.error() == Errc::unsupported_operation) return Outcome::success;
  return found ? world.complain("a method") : world.of(found);
}
Outcome read_state(World& world) { return world.of(world.kernel.read_state<std::uint64_t>()); }
Outcome write_state(World& world) { return world.of(world.kernel.write_state(std::uint64_t{7})); }

constexpr Case cases[] = {
    {"launch, of one's own program", added, launch},
    {"call, of one's own program", launched, call},
    {"call that faults", launched, call_that_faults},
    {"swap_program", launched, swap},
    {"program", added, program},
    {"method", launched, method},
    {"read_state", resting, read_state},
    {"write_state", resting, write_state},
};

}  // namespace

std::span<const Case> program_cases() { return cases; }

}  // namespace ringkernel::test::allocation
