// Opening, launching, changing states, ending.
#include <iterator>

#include "stress/allocation/cases.hpp"

namespace ringkernel::test::allocation {
namespace {

using injection::Scope;

void nothing(World& world) { world.closes() ? void() : world.runtime.reset(); }
void bare(World& world) {
  if (!world.runtime) world.open_bare();
}
void opened(World& world) {
  if (!world.runtime) world.open();
}
void active(World& world) {
  opened(world);
  world.launch_both();
}
void launched(World& world) {
  opened(world);
  world.kernel = world.runtime->launch("main").value();
}
void with_messages(World& world) {
  active(world);
  for (int i = 0; i < 3; ++i) world.kernel.send(ops::add(numbers(), numbers())).value();
}
void with_function(World& world) {
  active(world);
  Graph graph("double");
  const Graph::Value input = graph.input({DType::f32, {4}});
  graph.output(graph.add(ops::add(input, input)));
  world.function =
      world.runtime->get_or_compile("double", graph.inputs(), [&] { return graph; }).value();
  world.tensor = world.runtime->allocate({DType::f32, {16}}).value();
}

Result<RingKernelRuntime> build(World& world) {
  return RingKernelRuntime::builder().backend(world.backend).options(runtime_options()).build();
}

Outcome open(World& world) {
  Result<RingKernelRuntime> runtime = build(world);
  const Outcome outcome = world.of(runtime);
  if (runtime) world.runtime.emplace(std::move(*runtime));
  world.free_bytes = 0;
  return outcome;
}

/// Every thread of a whole life.
Outcome life(World& world) {
  world.free_bytes = 0;
  Result<RingKernelRuntime> runtime = build(world);
  if (!runtime) return world.of(runtime);
  Result<Kernel> kernel = runtime->launch("main", {.auto_activate = true});
  if (!kernel) return world.of(kernel);
  const Result<Reply> reply = kernel->call(ops::add(numbers(), numbers()));
  if (!reply) return world.of(reply);
  if (!is_double(reply->floats())) return world.complain("wrong answer");
  const Result<void> ended = kernel->terminate();
  if (!ended) return world.of(ended);
  return world.of(runtime->shutdown());
}

Outcome launch(World& world) {
  Result<Kernel> kernel = world.runtime->launch("main");
  if (kernel) world.kernel = *kernel;
  return world.of(kernel);
}
Outcome launch_active(World& world) {
  Result<Kernel> kernel = world.runtime->launch("main", {.auto_activate = true});
  if (kernel) world.kernel = *kernel;
  return world.of(kernel);
}
Outcome async_launch(World& world) {
  Waiter waiter;
  world.runtime->async_launch("main", KernelOptions(), waiter.token());
  return world.of(waiter);
}
Outcome activate(World& world) { return world.of(world.kernel.activate()); }
Outcome async_activate(World& world) {
  Waiter waiter;
  world.kernel.async_activate(waiter.token());
  return world.of(waiter);
}
Outcome deactivate(World& world) { return world.of(world.kernel.deactivate()); }
Outcome async_deactivate(World& world) {
  Waiter waiter;
  world.kernel.async_deactivate(waiter.token());
  return world.of(waiter);
}
Outcome terminate(World& world) { return world.of(world.kernel.terminate()); }
Outcome terminate_by_id(World& world) { return world.of(world.runtime->terminate("main")); }
Outcome drain(World& world) { return world.of(world.kernel.terminate({.drain = true})); }
Outcome async_terminate(World& world) {
  Waiter waiter;
  world.kernel.async_terminate({}, waiter.token());
  return world.of(waiter);
}
Outcome restart(World& world) {
  const Outcome outcome = world.of(world.runtime->restart("core"));
  return outcome;
}
Outcome shutdown(World& world) {
  const Outcome outcome = world.of(world.runtime->shutdown());
  if (outcome == Outcome::success) world.runtime.reset();
  world.free_bytes = 0;
  return outcome;
}
Outcome destroy(World& world) {
  world.runtime.reset();
  world.free_bytes = 0;
  return Outcome::success;
}

constexpr Case cases[] = {
    {"open", nothing, open, Scope::thread, false, true},
    {"open to close, all threads", nothing, life, Scope::process, false, true, true},
    {"launch, first of a program", bare, launch, Scope::thread, false, true, true},
    {"launch", opened, launch, Scope::thread, false, false, true},
    {"launch, auto_activate", opened, launch_active, Scope::thread, false, false, true},
    {"async_launch", opened, async_launch, Scope::process, true},
    {"activate", launched, activate},
    {"async_activate", launched, async_activate, Scope::process, true},
    {"deactivate", active, deactivate},
    {"async_deactivate", active, async_deactivate, Scope::process, true},
    {"terminate", with_messages, terminate, Scope::thread, false, false, true},
    {"terminate by id", with_messages, terminate_by_id},
    {"terminate, drain", with_messages, drain, Scope::thread, false, false, true},
    {"terminate, all threads", with_messages, terminate, Scope::process},
    {"async_terminate", with_messages, async_terminate, Scope::process, true},
    {"restart", with_messages, restart, Scope::thread, false, true},
    {"shutdown", with_messages, shutdown, Scope::thread, false, true, true},
    {"shutdown, all threads", with_function, shutdown, Scope::process, false, true},
    {"destructor", with_function, destroy, Scope::thread, false, true, true},
};

}  // namespace

std::span<const Case> lifecycle_cases() { return cases; }

}  // namespace ringkernel::test::allocation
