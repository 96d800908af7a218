// Programs of a user's own: what their handlers cost beside ours, and what adding one costs.
#include "program_cases.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench_exchange_program.hpp"
#include "book_generated.h"
#include "figures.hpp"
#include "opencl.hpp"
#include "program/definition.hpp"
#include "ringkernel/ringkernel.hpp"
#include "ringkernel/typed.hpp"
#ifdef RK_BENCH_JSON
#include "ringkernel/json.hpp"
#endif

namespace bench {
namespace {

namespace rk = ringkernel;

constexpr const char* echo_source = R"(
RK_ON_BYTES {
  rk_copy_bytes(rk_reply_bytes(self), rk_request_bytes(self), rk_request_length(self));
  return RK_OK;
}
)";

/// Adds up what an order has, of which the bytes are a struct.
constexpr const char* order_source = R"(
typedef struct { rk_u64 id; rk_u32 side; rk_u32 price; rk_u32 quantity; rk_u32 pad; } order;
RK_ON_BYTES {
  RK_GLOBAL const order* given = (RK_GLOBAL const order*)rk_request_bytes(self);
  RK_GLOBAL rk_u64* volume = (RK_GLOBAL rk_u64*)state;
  if (given->price == 0 || given->quantity == 0) return rk_fault(self, 1, given->id);
  *volume += given->quantity;
  *(RK_GLOBAL rk_u64*)rk_reply_bytes(self) = *volume;
  return RK_OK;
}
)";

/// The same of a table, by the schema of the order book.
constexpr const char* typed_source = R"(
#include "book.rk.h"
RK_ON(Book, Submit) {
  if (Order_price(request) == 0 || Order_quantity(request) == 0)
    return rk_fault(self, 1, Order_id(request));
  state->volume += Order_quantity(request) + (rk_u32)Order_side(request);
  reply->filled = (rk_u32)state->volume;
  return RK_OK;
}
RK_ON(Book, Cancel) { return RK_OK; }
)";

rk::RingKernelRuntime open_runtime(const char* backend) {
  return rk::RingKernelRuntime::builder().backend(backend).build().value();
}

rk::Kernel launch(rk::RingKernelRuntime& runtime, const std::string& program) {
  return runtime.launch("kernel", {.program = program, .auto_activate = true}).value();
}

/// Blocks of calls: a single one is shorter than the clock's grain.
template <class Call>
Measurement time_block(Call&& call) {
  constexpr int block = 256;
  Latencies latencies;
  while (latencies.more()) {
    const Stopwatch watch;
    for (int i = 0; i < block; ++i) call();
    latencies.add(watch.us() * 1000 / block);
  }
  return latencies.result();
}

Measurement echo(const char* backend, bool own) {
  rk::RingKernelRuntime runtime = open_runtime(backend);
  if (own)
    (void)runtime
        .add_program({.name = "own", .source = rk::Source::text("echo.rk.cl", echo_source)})
        .value();
  rk::Kernel kernel = launch(runtime, own ? "own" : "echo");
  std::array<std::byte, 64> message{};
  return time_block([&] {
    const auto reply = kernel.call(message);
    if (!reply || reply->bytes().size() != message.size()) throw std::runtime_error("no echo");
  });
}

/// One actor after the other, of many.
Measurement echo_in_turn(const char* backend, std::size_t count) {
  rk::RingKernelRuntime runtime = open_runtime(backend);
  (void)runtime.add_program({.name = "own", .source = rk::Source::text("echo.rk.cl", echo_source)})
      .value();
  std::vector<rk::Kernel> kernels;
  for (std::size_t i = 0; i < count; ++i)
    kernels.push_back(runtime
                          .launch("kernel" + std::to_string(i), {.program = "own",
                                                                 .input_bytes = 4096,
                                                                 .output_bytes = 4096,
                                                                 .auto_activate = true})
                          .value());
  std::array<std::byte, 64> message{};
  std::size_t next = 0;
  return time_block([&] {
    if (!kernels[next].call(message)) throw std::runtime_error("no echo");
    next = next + 1 == count ? 0 : next + 1;
  });
}

/// Its name.
std::string add_orders_of_bytes(rk::RingKernelRuntime& runtime) {
  (void)runtime
      .add_program({.name = "orders",
                    .source = rk::Source::text("orders.rk.cl", order_source),
                    .state_bytes = 8,
                    .reply_bytes = 8})
      .value();
  return "orders";
}

constexpr std::array<std::uint32_t, 6> order_in_bytes{7, 0, 1, 12, 3, 0};

Measurement order_of_bytes() {
  rk::RingKernelRuntime runtime = open_runtime("native");
  rk::Kernel kernel = launch(runtime, add_orders_of_bytes(runtime));
  return time_block([&] {
    if (!kernel.call(std::as_bytes(std::span(order_in_bytes))))
      throw std::runtime_error("no reply");
  });
}

rk::Kernel launch_typed(rk::RingKernelRuntime& runtime) {
  rk::ProgramDesc program = bench_exchange_program();
  program.source = rk::Source::text("typed.rk.cl", typed_source);
  (void)runtime.add_program(program).value();
  return launch(runtime, "bench_exchange");
}

Measurement order_of_table() {
  rk::RingKernelRuntime runtime = open_runtime("native");
  rk::Kernel kernel = launch_typed(runtime);
  const rk::Method submit = kernel.method("Submit").value();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(exchange::CreateOrder(builder, 7, exchange::Side::Sell, 12, 3));
  const rk::Message message{submit, rk::typed<exchange::Order>(builder).bytes};
  return time_block([&] {
    if (!kernel.call(message)) throw std::runtime_error("no reply");
  });
}

/// What the table costs more than the struct: blocks of both in turn, in one process, and the
/// difference within each pair.
Measurement table_over_bytes() {
  rk::RingKernelRuntime runtime = open_runtime("native");
  rk::Kernel table_kernel = launch_typed(runtime);
  rk::Kernel bytes_kernel =
      runtime.launch("bytes", {.program = add_orders_of_bytes(runtime), .auto_activate = true})
          .value();
  const rk::Method submit = table_kernel.method("Submit").value();
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(exchange::CreateOrder(builder, 7, exchange::Side::Sell, 12, 3));
  const rk::Message message{submit, rk::typed<exchange::Order>(builder).bytes};
  constexpr int block = 256;
  Latencies latencies;
  while (latencies.more()) {
    const Stopwatch of_bytes;
    for (int i = 0; i < block; ++i)
      if (!bytes_kernel.call(std::as_bytes(std::span(order_in_bytes))))
        throw std::runtime_error("no reply");
    const double bytes_us = of_bytes.us();
    const Stopwatch of_table;
    for (int i = 0; i < block; ++i)
      if (!table_kernel.call(message)) throw std::runtime_error("no reply");
    latencies.add((of_table.us() - bytes_us) * 1000 / block);
  }
  return latencies.result();
}

#ifdef RK_BENCH_JSON
Measurement order_in_json() {
  rk::RingKernelRuntime runtime = open_runtime("native");
  rk::Kernel kernel = launch_typed(runtime);
  rk::JsonCodec codec = rk::JsonCodec::open(bench_exchange_program().schema).value();
  return time_block([&] {
    const auto report = rk::call_json(kernel, codec, "Submit",
                                      R"({"id": 7, "side": "Sell", "price": 12, "quantity": 3})");
    if (!report) throw std::runtime_error("no reply");
  });
}
#endif

/// An order that trades with the one before it, one after the other.
template <class Send>
Measurement time_orders(Send&& send) {
  std::uint64_t id = 0;
  flatbuffers::FlatBufferBuilder builder;
  Latencies latencies;
  while (latencies.more()) {
    ++id;
    builder.Clear();
    builder.Finish(exchange::CreateOrder(
        builder, id, id % 2 != 0 ? exchange::Side::Buy : exchange::Side::Sell, 100, 5));
    const rk::TypedRequest<exchange::Order> order = rk::typed<exchange::Order>(builder);
    const Stopwatch watch;
    const std::uint32_t filled = send(order.bytes);
    latencies.add(watch.us());
    if (filled != (id % 2 != 0 ? 0u : 5u)) throw std::runtime_error("wrong fill");
  }
  return latencies.result();
}

Measurement order_book(const char* backend) {
  rk::RingKernelRuntime runtime = open_runtime(backend);
  (void)runtime.add_program(bench_exchange_program()).value();
  rk::Kernel kernel = launch(runtime, "bench_exchange");
  const rk::Method submit = kernel.method("Submit").value();
  return time_orders([&](rk::Bytes order) {
    return (*rk::read<exchange::Report>(kernel.call(rk::Message{submit, order}).value()))->filled();
  });
}

/// A launch for each order, of the same handler: state stays in a buffer, order and report are
/// copied.
constexpr const char* launch_entry = R"(
RK_KERNEL void rk_once(RK_GLOBAL rk_u8* state, rk_u32 state_bytes, RK_GLOBAL rk_u8* order,
                       rk_u32 order_bytes, RK_GLOBAL rk_u8* report, rk_u32 report_bytes) {
  rk_message message;
  message.payload = order;
  message.payload_bytes = order_bytes;
  message.selector = RK_METHOD_Book_Submit;
  message.reply = report;
  message.reply_bytes = report_bytes;
  message.malformed = 0;
  message.state = state;
  message.state_bytes = state_bytes;
  message.behaviour = RK_BEHAVIOUR_Book;
  (void)rk_handle(&message);
}
)";

Measurement order_launches() {
  const auto definition = rk::program::Definition::of(bench_exchange_program()).value();
  const rk::program::Behaviour* const book = definition->behaviour("Book").value();
  const std::string text = definition->source(1).device_text + std::string(launch_entry);
  const Session session(text.c_str());
  const Kernel kernel = session.kernel("rk_once");
  const cl_uint state_bytes = definition->state_bytes(book);
  const cl_uint report_bytes = book->find_method("Submit")->reply_bytes;
  constexpr cl_uint order_bytes_max = 256;
  const Buffer state = session.buffer(state_bytes), order = session.buffer(order_bytes_max),
               report = session.buffer(report_bytes);
  const std::vector<std::byte> zeros(state_bytes);
  check(clEnqueueWriteBuffer(session.queue(), state.get(), CL_TRUE, 0, zeros.size(), zeros.data(),
                             0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
  cl_uint index = 0;
  const auto argument = [&](const auto& value) {
    check(clSetKernelArg(kernel.get(), index++, sizeof value, &value), "clSetKernelArg");
  };
  argument(state.get());
  argument(state_bytes);
  argument(order.get());
  argument(order_bytes_max);
  argument(report.get());
  argument(report_bytes);
  std::vector<std::byte> answer(report_bytes);
  return time_orders([&](rk::Bytes bytes) {
    const auto length = static_cast<cl_uint>(bytes.size());
    const std::size_t one = 1;
    check(clEnqueueWriteBuffer(session.queue(), order.get(), CL_FALSE, 0, length, bytes.data(), 0,
                               nullptr, nullptr),
          "clEnqueueWriteBuffer");
    check(clSetKernelArg(kernel.get(), 3, sizeof length, &length), "clSetKernelArg");
    check(clEnqueueNDRangeKernel(session.queue(), kernel.get(), 1, nullptr, &one, &one, 0, nullptr,
                                 nullptr),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(session.queue(), report.get(), CL_TRUE, 0, answer.size(),
                              answer.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
    return flatbuffers::GetRoot<exchange::Report>(answer.data())->filled();
  });
}

/// Adds one program after the other to a runtime that is open; `vary`: each is new to the cache.
Measurement add_program(const char* backend, bool vary) {
  constexpr int rounds = 6;
  std::vector<double> samples;
  for (int i = 0; i < rounds; ++i) {
    rk::RingKernelRuntime runtime = open_runtime(backend);
    rk::ProgramDesc program = bench_exchange_program();
    program.compiled = nullptr;  // by the system's compiler
    if (vary) {
      // Not a comment: PoCL's cache looks at what the preprocessor leaves.
      std::string text = program.source.content() + "\nenum { new_at_";
      text += std::to_string(Clock::now().time_since_epoch().count()) + " = 1 };\n";
      program.source = rk::Source::text("book.rk.cl", text);
    }
    const Stopwatch watch;
    (void)runtime.add_program(program).value();
    // The first warms up what a process does once, and fills the cache.
    if (i != 0) samples.push_back(watch.us() / 1000);
  }
  return summarize(std::move(samples), Better::lower);
}

/// Counts its messages, and answers with the count.
rk::ProgramDesc counting(bool other) {
  const std::string text = std::string("RK_ON_BYTES {\n") +
                           (other ? "  (void)rk_request_length(self);\n" : "") +
                           "  RK_GLOBAL rk_u64* count = (RK_GLOBAL rk_u64*)state;\n"
                           "  *(RK_GLOBAL rk_u64*)rk_reply_bytes(self) = *count += 1;\n"
                           "  return RK_OK;\n"
                           "}\n";
  return {.name = "counting",
          .source = rk::Source::text("counting.rk.cl", text),
          .state_bytes = 8,
          .reply_bytes = 8};
}

/// The pause of a swap, while another thread calls without one: each call is answered, and counted
/// once.
Measurement swap_pause(const char* backend) {
  constexpr int swaps = 200;
  rk::RingKernelRuntime runtime = open_runtime(backend);
  (void)runtime.add_program(counting(false)).value();
  rk::Kernel kernel = launch(runtime, "counting");
  std::atomic<bool> stop{false};
  std::uint64_t calls = 0;
  bool is_lost = false;
  std::thread caller([&] {
    std::array<std::byte, 8> message{};
    while (!stop && !is_lost) {
      std::uint64_t count = 0;
      const auto reply = kernel.call(message);
      if (reply) std::memcpy(&count, reply->bytes().data(), sizeof count);
      is_lost = count != ++calls;
    }
  });
  std::vector<double> samples;
  for (int i = 0; i < swaps; ++i) {
    const auto swapped = runtime.swap_program(counting(i % 2 == 0));
    if (!swapped) break;
    samples.push_back(std::chrono::duration<double, std::micro>(swapped->pause).count());
  }
  stop = true;
  caller.join();
  if (is_lost || samples.size() != swaps) throw std::runtime_error("a call was lost, or a swap");
  return summarize(std::move(samples), Better::lower);
}

const Case cases[] = {
    {"opencl_user_echo", "ns", [] { return echo("opencl", true); }},
    {"opencl_echo", "ns", [] { return echo("opencl", false); }},
    {"native_user_echo", "ns", [] { return echo("native", true); }},
    {"native_echo", "ns", [] { return echo("native", false); }},
    {"native_echo_of_1000", "ns", [] { return echo_in_turn("native", 1000); }},
    {"order_of_table", "ns", order_of_table},
    {"order_of_bytes", "ns", order_of_bytes},
    {"order_of_table_over_bytes", "ns", table_over_bytes},
#ifdef RK_BENCH_JSON
    {"order_in_json", "ns", order_in_json},
#endif
    {"opencl_order_book", "us", [] { return order_book("opencl"); }},
    {"native_order_book", "us", [] { return order_book("native"); }},
    {"order_launches", "us", order_launches},
    {"opencl_add_program_cold", "ms", [] { return add_program("opencl", true); }},
    {"opencl_add_program_cached", "ms", [] { return add_program("opencl", false); }},
    {"native_add_program_cold", "ms", [] { return add_program("native", true); }},
    {"native_add_program_cached", "ms", [] { return add_program("native", false); }},
    {"opencl_swap_pause", "us", [] { return swap_pause("opencl"); }},
    {"native_swap_pause", "us", [] { return swap_pause("native"); }},
};

const Figure figures[] = {
    {"user_echo_vs_builtin_echo", "x", Better::lower, 1.05, "opencl_user_echo", {"opencl_echo"}},
    {"native_user_echo_vs_builtin", "x", Better::lower, 1.1, "native_user_echo", {"native_echo"}},
    {"native_echo_of_1000_ns",
     "ns",
     Better::lower,
     Figure::no_bar,
     "native_echo_of_1000",
     {"native_user_echo"}},
    {"typed_order_ns", "ns", Better::lower, Figure::no_bar, "order_of_table", {"order_of_bytes"}},
    {"typed_order_vs_bytes_ns", "ns", Better::lower, 10, "order_of_table_over_bytes"},
#ifdef RK_BENCH_JSON
    {"json_order_ns", "ns", Better::lower, Figure::no_bar, "order_in_json", {"order_of_table"}},
#endif
    {"order_book_vs_launch", "x", Better::higher, 20, "opencl_order_book", {"order_launches"}},
    {"native_order_book_vs_launch",
     "x",
     Better::higher,
     Figure::no_bar,
     "native_order_book",
     {"order_launches"}},
    {"add_program_cold_ms", "ms", Better::lower, 1000, "opencl_add_program_cold"},
    {"add_program_cached_ms", "ms", Better::lower, 80, "opencl_add_program_cached"},
    {"native_add_program_cold_ms", "ms", Better::lower, 200, "native_add_program_cold"},
    {"native_add_program_cached_ms", "ms", Better::lower, 2, "native_add_program_cached"},
    {"swap_pause_p50_us", "us", Better::lower, 100, "opencl_swap_pause"},
    {"native_swap_pause_p50_us", "us", Better::lower, 100, "native_swap_pause"},
};

}  // namespace

std::span<const Case> program_cases() { return cases; }

std::span<const Figure> program_figures() { return figures; }

}  // namespace bench
