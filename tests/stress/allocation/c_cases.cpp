// The C interfaces, which are compiled in: the same counters see their allocations.
#include <array>
#include <chrono>

#include "ringkernel/mind_runtime.h"
#include "ringkernel/ringkernel_async.h"
#include "ringkernel/ringkernel_metrics.h"
#include "stress/allocation/cases.hpp"

namespace ringkernel::test::allocation {
namespace {

using injection::Scope;

/// What the C functions have opened.
struct Handles {
  ringkernel_runtime* runtime = nullptr;
  ringkernel_kernel* kernel = nullptr;
  ringkernel_kernel* echo = nullptr;
  mind_runtime_t* mind = nullptr;
  mind_tensor_t* tensor = nullptr;
};
Handles c;

std::array<float, 4> input{1, 2, 3, 4};
std::array<float, 4> output{};

ringkernel_tensor tensor_of(std::array<float, 4>& elements) {
  return {RINGKERNEL_F32, 1, {4}, elements.data(), sizeof elements};
}

void must(int status) {
  if (status != 0) throw std::runtime_error(std::string("C: ") + ringkernel_last_error());
}

Outcome outcome_of(World& world, int status) {
  if (status == 0) return Outcome::success;
  if (status == RINGKERNEL_E_allocation_failure) return Outcome::refused;
  const char* const text = ringkernel_last_error();
  return world.complain(text != nullptr ? text : "an error without a text");
}

/// The statuses of the MIND interface are coarse.
Outcome outcome_of_mind(World& world, int status) {
  if (status == MIND_STATUS_OK) return Outcome::success;
  const char* const text = mind_runtime_last_error();
  const bool is_memory = text == nullptr || std::string_view(text).starts_with("E6004") ||
                         std::string_view(text).empty();
  if (status == MIND_STATUS_RUNTIME_ERROR && is_memory) return Outcome::refused;
  return world.complain(text != nullptr ? text : "an error without a text");
}

ringkernel_status open_c(World& world) {
  ringkernel_runtime_options options{};
  options.struct_size = sizeof options;
  options.target = RINGKERNEL_TARGET_CPU;
  options.backend = world.backend.c_str();
  options.arena_bytes = 16 << 20;
  options.call_timeout_ns = 5'000'000'000;
  options.termination_timeout_ns = 5'000'000'000;
  return ringkernel_runtime_open(&options, &c.runtime);
}
ringkernel_status launch_c() {
  return ringkernel_kernel_launch(c.runtime, "main", nullptr, &c.kernel);
}
ringkernel_status add_c() {
  const std::array inputs{tensor_of(input), tensor_of(input)};
  const ringkernel_request request{sizeof request, "add",  nullptr, inputs.data(), 2,
                                   nullptr,        nullptr};
  ringkernel_tensor result = tensor_of(output);
  return ringkernel_call(c.kernel, &request, 0, &result);
}
ringkernel_status send_c() {
  const std::array inputs{tensor_of(input), tensor_of(input)};
  const ringkernel_request request{sizeof request, "add",  nullptr, inputs.data(), 2,
                                   nullptr,        nullptr};
  return ringkernel_send(c.kernel, &request, 0, nullptr);
}

/// After each round: what there is ends, and its ids can be used again.
void start_anew(World& world) {
  world.runtime.reset();
  if (c.runtime != nullptr && c.kernel != nullptr) (void)ringkernel_kernel_terminate(c.kernel, 0);
  if (c.runtime != nullptr && c.echo != nullptr) (void)ringkernel_kernel_terminate(c.echo, 0);
  if (c.kernel != nullptr) (void)ringkernel_kernel_close(c.kernel);
  if (c.echo != nullptr) (void)ringkernel_kernel_close(c.echo);
  c.kernel = c.echo = nullptr;
  if (c.runtime == nullptr) must(open_c(world));
}
void no_runtime(World& world) {
  start_anew(world);
  if (c.runtime != nullptr) must(ringkernel_runtime_close(c.runtime));
  c.runtime = nullptr;
}
void with_kernel(World& world) {
  start_anew(world);
  must(launch_c());
  must(ringkernel_kernel_activate(c.kernel));
  const ringkernel_kernel_options options{sizeof options, 0, 0, 0, 0, "echo", nullptr};
  must(ringkernel_kernel_launch(c.runtime, "echo", &options, &c.echo));
  must(ringkernel_kernel_activate(c.echo));
  must(add_c());
  if (!is_double(output)) throw std::runtime_error("C: a wrong answer");
  output = {};
}
void with_reply(World& world) {
  with_kernel(world);
  must(send_c());
}

Outcome c_open(World& world) { return outcome_of(world, open_c(world)); }
Outcome c_launch(World& world) { return outcome_of(world, launch_c()); }
Outcome c_activate(World& world) {
  must(0);
  return outcome_of(world, ringkernel_kernel_deactivate(c.kernel) == 0
                               ? ringkernel_kernel_activate(c.kernel)
                               : RINGKERNEL_E_allocation_failure);
}
Outcome c_call(World& world) {
  const ringkernel_status status = add_c();
  if (status == 0 && !is_double(output)) return world.complain("wrong answer");
  return outcome_of(world, status);
}
Outcome c_bytes(World& world) {
  std::array<char, 64> bytes{"hello"};
  std::array<char, 64> back{};
  const ringkernel_bytes message{bytes.data(), bytes.size()};
  ringkernel_bytes reply{back.data(), back.size()};
  const ringkernel_status called = ringkernel_call_bytes(c.echo, &message, 0, &reply);
  if (called != 0) return outcome_of(world, called);
  const ringkernel_status sent = ringkernel_send_bytes(c.echo, &message, 0, nullptr);
  if (sent != 0) return outcome_of(world, sent);
  return outcome_of(world, ringkernel_receive_bytes(c.echo, 3'000'000'000, &reply, nullptr));
}
Outcome c_send(World& world) { return outcome_of(world, send_c()); }
Outcome c_receive(World& world) {
  ringkernel_tensor result = tensor_of(output);
  return outcome_of(world, ringkernel_receive(c.kernel, 3'000'000'000, &result, nullptr));
}
Outcome c_state(World& world) {
  std::int32_t state = 0;
  return outcome_of(world, ringkernel_kernel_state(c.kernel, &state));
}
Outcome c_terminate(World& world) {
  return outcome_of(world, ringkernel_kernel_terminate(c.kernel, 1));
}
Outcome c_close(World& world) {
  const ringkernel_status status = ringkernel_runtime_close(c.runtime);
  // With this the handle was not found: it is as it was.
  if (status == RINGKERNEL_E_allocation_failure) must(ringkernel_runtime_close(c.runtime));
  c = {.mind = c.mind, .tensor = c.tensor};
  return outcome_of(world, status);
}

/// An error of the call, or that it ends with.
ringkernel_status ended(ringkernel_queue* queue, ringkernel_status begun) {
  if (begun != 0) return begun;
  ringkernel_completion completion{sizeof completion, 0, 0, 0};
  ringkernel_status status = 0;
  do {
    status = ringkernel_queue_next(queue, 3'000'000'000, &completion);
  } while (status == RINGKERNEL_E_allocation_failure);  // the completion stays
  return status != 0 ? status : completion.status;
}

Outcome c_prepared(World& world) {
  const std::array inputs{tensor_of(input), tensor_of(input)};
  const ringkernel_request request{sizeof request, "add",  nullptr, inputs.data(), 2,
                                   nullptr,        nullptr};
  ringkernel_prepared* prepared = nullptr;
  ringkernel_tensor result = tensor_of(output);
  ringkernel_status status = ringkernel_kernel_prepare(c.kernel, &request, &prepared);
  if (status != 0) return outcome_of(world, status);
  status = ringkernel_prepared_call(prepared, inputs.data(), 2, 0, &result, 1);
  const Outcome outcome = outcome_of(world, status);
  must(ringkernel_prepared_close(prepared));
  if (status == 0 && !is_double(output)) return world.complain("wrong answer");
  return outcome;
}
Outcome c_resident(World& world) {
  const ringkernel_tensor elements = tensor_of(input);
  ringkernel_resident* resident = nullptr;
  ringkernel_status status = ringkernel_resident_create(c.runtime, &elements, &resident);
  if (status != 0) return outcome_of(world, status);
  ringkernel_tensor result = tensor_of(output);
  status = ringkernel_resident_write(resident, &elements, 0);
  if (status == 0) status = ringkernel_resident_read(resident, 0, &result);
  const Outcome outcome = outcome_of(world, status);
  must(ringkernel_resident_close(resident));
  return outcome;
}
Outcome c_function(World& world) {
  constexpr const char* text =
      "%x = Input() : Tensor<f32, [4]>\n%0 = Add(%x, %x) : Tensor<f32, [4]>\noutputs: %0\n";
  ringkernel_function* function = nullptr;
  ringkernel_status status =
      ringkernel_function_compile_text(c.runtime, "double", text, nullptr, &function);
  if (status != 0) return outcome_of(world, status);
  const ringkernel_tensor operand = tensor_of(input);
  ringkernel_tensor result = tensor_of(output);
  const ringkernel_execution execution{sizeof execution, &operand, 1, &result, 1,
                                       nullptr,          nullptr,  0, 0,       0};
  status = ringkernel_function_execute(function, &execution);
  const Outcome outcome = outcome_of(world, status);
  must(ringkernel_function_close(function));
  if (status == 0 && !is_double(output)) return world.complain("wrong answer");
  return outcome;
}
Outcome c_async(World& world) {
  ringkernel_queue* queue = nullptr;
  ringkernel_status status = ringkernel_queue_open(&queue);
  if (status != 0) return outcome_of(world, status);
  const std::array inputs{tensor_of(input), tensor_of(input)};
  const ringkernel_request request{sizeof request, "add",  nullptr, inputs.data(), 2,
                                   nullptr,        nullptr};
  ringkernel_tensor result = tensor_of(output);
  status = ended(queue, ringkernel_call_async(c.kernel, &request, nullptr, queue, 1, &result));
  const Outcome outcome = outcome_of(world, status);
  must(ringkernel_queue_close(queue));
  if (status == 0 && !is_double(output)) return world.complain("wrong answer");
  return outcome;
}
Outcome c_metrics(World& world) {
  ringkernel_kernel_figures figures{};
  figures.struct_size = sizeof figures;
  return outcome_of(world, ringkernel_kernel_metrics(c.kernel, &figures));
}

mind_status_t open_mind(World& world) {
  const mind_runtime_options_t options{
      sizeof options, world.backend.c_str(), 16 << 20, 5'000'000'000, 2, 0};
  return mind_runtime_open(MIND_DEVICE_CPU, &options, &c.mind);
}
void must_mind(int status) {
  if (status != MIND_STATUS_OK)
    throw std::runtime_error(std::string("MIND: ") + mind_runtime_last_error());
}
constexpr std::int64_t shape[] = {4};

void no_mind(World&) {
  mind_runtime_free(c.mind);
  c.mind = nullptr;
  c.tensor = nullptr;
}
void mind(World& world) {
  if (c.mind == nullptr) must_mind(open_mind(world));
  if (c.tensor != nullptr) mind_tensor_free(c.mind, c.tensor);
  must_mind(mind_tensor_alloc(c.mind, MIND_DTYPE_F32, shape, 1, &c.tensor));
  must_mind(mind_tensor_write_f32(c.mind, c.tensor, input.data(), input.size()));
}

Outcome m_open(World& world) { return outcome_of_mind(world, open_mind(world)); }
Outcome m_tensor(World& world) {
  mind_tensor_t* tensor = nullptr;
  const mind_status_t status = mind_tensor_alloc(c.mind, MIND_DTYPE_F32, shape, 1, &tensor);
  if (status == MIND_STATUS_OK) mind_tensor_free(c.mind, tensor);
  return outcome_of_mind(world, status);
}
Outcome m_copy(World& world) {
  const int status = mind_tensor_write_f32(c.mind, c.tensor, input.data(), input.size());
  if (status != MIND_STATUS_OK) return outcome_of_mind(world, status);
  return outcome_of_mind(world,
                         mind_tensor_read_f32(c.mind, c.tensor, output.data(), output.size()));
}
Outcome m_run(World& world) {
  mind_tensor_t* const inputs[] = {c.tensor, c.tensor};
  return outcome_of_mind(world, mind_runtime_run_op(c.mind, "add", inputs, 2, &c.tensor, 1));
}
Outcome m_run_async(World& world) {
  mind_tensor_t* const inputs[] = {c.tensor, c.tensor};
  const int status = mind_runtime_run_op_async(c.mind, "add", nullptr, inputs, 2, &c.tensor, 1);
  const int ended = mind_runtime_synchronize(c.mind);
  return outcome_of_mind(world, status != MIND_STATUS_OK ? status : ended);
}
Outcome m_free(World&) {
  mind_runtime_free(c.mind);
  c.mind = nullptr;
  c.tensor = nullptr;
  return Outcome::success;
}

constexpr Case cases[] = {
    {"ringkernel_runtime_open", no_runtime, c_open, Scope::thread, false, true},
    {"ringkernel_kernel_launch", start_anew, c_launch},
    {"ringkernel_kernel_deactivate, activate", with_kernel, c_activate},
    {"ringkernel_call", with_kernel, c_call},
    {"ringkernel_call_bytes and others", with_kernel, c_bytes},
    {"ringkernel_send", with_kernel, c_send},
    {"ringkernel_receive", with_reply, c_receive},
    {"ringkernel_kernel_state", with_kernel, c_state},
    {"ringkernel_kernel_prepare, prepared_call", with_kernel, c_prepared},
    {"ringkernel_resident_create, write, read", with_kernel, c_resident},
    {"ringkernel_function_compile_text, execute", with_kernel, c_function},
    {"ringkernel_call_async, queue_next", with_kernel, c_async},
    {"ringkernel_kernel_metrics", with_kernel, c_metrics},
    {"ringkernel_kernel_terminate", with_reply, c_terminate},
    {"ringkernel_runtime_close", with_reply, c_close, Scope::thread, false, true},
    {"mind_runtime_open", no_mind, m_open, Scope::thread, false, true},
    {"mind_tensor_alloc, free", mind, m_tensor},
    {"mind_tensor_write, read", mind, m_copy},
    {"mind_runtime_run_op", mind, m_run},
    {"mind_runtime_run_op_async", mind, m_run_async, Scope::process},
    {"mind_runtime_free", mind, m_free, Scope::process, false, true},
};

}  // namespace

std::span<const Case> c_cases() { return cases; }

}  // namespace ringkernel::test::allocation
