// Resident tensors, graphs, and the MIND runtime.
#include <array>
#include <boost/asio/detached.hpp>
#include <utility>

#include "ringkernel/onnx.hpp"
#include "stress/allocation/cases.hpp"
#include "unit/onnx/file_writer.hpp"

namespace ringkernel::test::allocation {
namespace {

using injection::Scope;

constexpr const char* text =
    "%x = Input() : Tensor<f32, [4]>\n%w = ConstTensor([1, 2, 3, 4]) : Tensor<f32, [4]>\n"
    "%0 = Add(%x, %w) : Tensor<f32, [4]>\noutputs: %0\n";
const TensorDesc four{DType::f32, {4}};

void active(World& world) {
  if (!world.runtime) world.open();
  world.launch_both();
}
void with_tensor(World& world) {
  active(world);
  world.tensor = world.runtime->allocate(four).value();
  world.tensor.write(numbers().floats()).value();
}
Graph make_graph() {
  Graph graph("double");
  const Graph::Value input = graph.input(four);
  const Graph::Value kept = graph.state(four);
  graph.update(kept, input);
  graph.output(graph.add(ops::add(graph.add(ops::mul(input, numbers())), kept)));
  return graph;
}
void with_graph(World& world) {
  active(world);
  world.graph.emplace(make_graph());
}
void with_function(World& world) {
  with_graph(world);
  world.function = world.runtime->compile(*world.graph).value();
}
void mind(World& world) {
  if (!world.mind)
    world.mind.emplace(MindRuntime::open(BackendTarget::cpu,
                                         {.runtime = runtime_options(), .backend = world.backend})
                           .value());
  world.tensor = world.mind->allocate(four).value();
  world.mind->write(world.tensor, numbers().floats()).value();
}
void no_mind(World& world) { world.mind.reset(); }

Outcome function_states(World& world) {
  const Result<void> written = world.function.write_state(0, numbers().floats());
  if (!written) return world.of(written);
  std::array<float, 4> elements{};
  const Result<void> read = world.function.read_state(0, elements);
  if (!read) return world.of(read);
  if (elements[3] != numbers().floats()[3]) return world.complain("another state");
  return world.of(world.function.reset_states());
}
Outcome allocate(World& world) {
  const Result<Tensor> tensor = world.runtime->allocate(four);
  if (tensor) world.tensor = *tensor;
  return world.of(tensor);
}
Outcome write(World& world) { return world.of(world.tensor.write(numbers().floats())); }
Outcome read(World& world) {
  std::array<float, 4> elements{};
  return world.of(world.tensor.read(elements));
}
Outcome deallocate(World& world) { return world.of(world.tensor.deallocate()); }
Outcome call_into(World& world) {
  return world.of(world.kernel.call(ops::add(world.tensor, world.tensor).into(world.tensor)));
}
Outcome send_resident(World& world) {
  return world.of(world.kernel.send(ops::add(world.tensor, numbers())));
}
Outcome defragment(World& world) { return world.of(world.runtime->defragment()); }
Outcome make(World& world) {
  const Graph graph = make_graph();
  return world.of(graph.status());
}
Outcome parse(World& world) { return world.of(Graph::parse("g", text)); }
Outcome compile(World& world) {
  const Result<CompiledFunction> function = world.runtime->compile(*world.graph);
  if (function) world.function = *function;
  return world.of(function);
}
Outcome get_or_compile(World& world) {
  const Result<CompiledFunction> function = world.runtime->get_or_compile(
      "double", std::span(&four, 1), [&] { return std::move(*world.graph); });
  if (function) world.function = *function;
  return world.of(function);
}
Outcome instance(World& world) {
  const Result<CompiledFunction> function = world.function.instance();
  if (function) world.function = *function;
  return world.of(function);
}
/// y = relu(x), written before an allocation fails.
const std::vector<std::byte>& onnx_file() {
  using File = onnx::test::Message;
  static const std::vector<std::byte> bytes =
      onnx::test::file(File()
                           .message(1, onnx::test::node("Relu", {"x"}, "y"))
                           .message(11, onnx::test::info("x", {4}))
                           .message(12, onnx::test::info("y", {4})));
  return bytes;
}
void with_file(World& world) {
  active(world);
  (void)onnx_file();
}
Outcome read_onnx(World& world) { return world.of(onnx::read(onnx_file())); }
Outcome execute(World& world) { return world.of(world.function.execute(numbers())); }
Outcome prepare_and_execute(World& world) {
  Result<PreparedCall> prepared = world.function.prepare();
  if (!prepared) return world.of(prepared);
  return world.of(prepared->call({numbers().floats()}));
}
Outcome async_execute(World& world) {
  Waiter waiter;
  world.function.async_execute(numbers(), waiter.token());
  return world.of(waiter);
}

Outcome mind_open(World& world) {
  Result<MindRuntime> runtime = MindRuntime::open(
      BackendTarget::cpu, {.runtime = runtime_options(), .backend = world.backend});
  const Outcome outcome = world.of(runtime);
  if (runtime) world.mind.emplace(std::move(*runtime));
  return outcome;
}
Outcome mind_allocate(World& world) { return world.of(world.mind->allocate(four)); }
Outcome mind_copy(World& world) {
  std::array<float, 4> elements{};
  const Result<void> written = world.mind->write(world.tensor, numbers().floats());
  return world.of(written ? world.mind->read(world.tensor, elements) : written);
}
Outcome mind_op(World& world) {
  return world.of(world.mind->run_op("add", {world.tensor, world.tensor}, world.tensor));
}
Outcome mind_op_async(World& world) {
  Waiter waiter;
  world.mind->run_op_async("add", {world.tensor, world.tensor}, world.tensor, {}, waiter.token());
  return world.of(waiter);
}
Outcome mind_chain(World& world) {
  Waiter first;
  world.mind->run_op_async("add", {world.tensor, world.tensor}, world.tensor, {}, first.token());
  const Result<void> second =
      world.mind->run_op("add", {world.tensor, world.tensor}, world.tensor, {.queue = 1});
  const Result<void> all = world.mind->synchronize();
  const Outcome outcome = world.of(first);
  if (outcome != Outcome::success) return outcome;
  return world.of(second ? all : second);
}
/// Each behind the one before it, and on the other queue: one that cannot be handed out lets the
/// next one go.
Outcome mind_queues(World& world) {
  for (const std::uint32_t queue : {0u, 1u, 0u})
    world.mind->run_op_async("add", {world.tensor, world.tensor}, world.tensor, {.queue = queue},
                             boost::asio::detached);
  return world.of(world.mind->synchronize());
}
Outcome mind_close(World& world) {
  world.mind.reset();
  return Outcome::success;
}

constexpr Case cases[] = {
    {"allocate", active, allocate, Scope::thread, false, false, true},
    {"Tensor::write", with_tensor, write},
    {"Tensor::read", with_tensor, read},
    {"Tensor::deallocate", with_tensor, deallocate},
    {"call, into a tensor", with_tensor, call_into},
    {"send, of a tensor", with_tensor, send_resident},
    {"defragment", with_tensor, defragment},
    {"Graph", active, make, Scope::thread, true},
    {"Graph::parse", active, parse},
    {"compile", with_graph, compile},
    {"get_or_compile", with_graph, get_or_compile, Scope::thread, false, true},
    {"CompiledFunction::instance", with_function, instance},
    {"write_state, read_state, reset_states", with_function, function_states},
    {"onnx::read", with_file, read_onnx},
    {"execute", with_function, execute},
    {"prepare, execute", with_function, prepare_and_execute},
    {"async_execute", with_function, async_execute, Scope::process, true},
    {"MindRuntime::open", no_mind, mind_open, Scope::thread, false, true},
    {"MindRuntime::allocate", mind, mind_allocate},
    {"MindRuntime::write, read", mind, mind_copy},
    {"run_op", mind, mind_op, Scope::process},
    {"run_op_async", mind, mind_op_async, Scope::process, true},
    {"run_op behind run_op_async", mind, mind_chain, Scope::process, true},
    {"run_op_async, in turn on two queues", mind, mind_queues, Scope::process, true, false, true},
    {"~MindRuntime", mind, mind_close, Scope::process, false, true},
};

}  // namespace

std::span<const Case> tensor_cases() { return cases; }

}  // namespace ringkernel::test::allocation
