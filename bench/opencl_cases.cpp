// The baselines on plain OpenCL, as somebody who knows it would write them: everything is made
// once, one in-order queue, one write for both operands, no event that nobody needs.
#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "cases.hpp"
#include "opencl.hpp"

namespace bench {
namespace {

constexpr const char* add_source = R"(
kernel void add(global const float* operands, global float* sum) {
  const size_t i = get_global_id(0);
  sum[i] = operands[i] + operands[get_global_size(0) + i];
})";

/// One addition of `count` floats: its buffers, its kernel with arguments set, its host memory.
class PlainAddition {
 public:
  PlainAddition(const Session& session, std::size_t count)
      : queue_(session.queue()),
        kernel_(session.kernel("add")),
        operand_buffer_(session.buffer(2 * count * sizeof(float))),
        sum_buffer_(session.buffer(count * sizeof(float))),
        operands_(2 * count),
        sum_(count) {
    for (std::size_t i = 0; i < operands_.size(); ++i) operands_[i] = static_cast<float>(i);
    set_argument(0, operand_buffer_);
    set_argument(1, sum_buffer_);
  }

  /// Write, run, read. `wait`: returns when the sum is there.
  void enqueue(bool wait) {
    const std::size_t count = sum_.size();
    check(clEnqueueWriteBuffer(queue_, operand_buffer_.get(), CL_FALSE, 0,
                               2 * count * sizeof(float), operands_.data(), 0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    check(clEnqueueNDRangeKernel(queue_, kernel_.get(), 1, nullptr, &count, &count, 0, nullptr,
                                 nullptr),
          "clEnqueueNDRangeKernel");
    check(clEnqueueReadBuffer(queue_, sum_buffer_.get(), wait ? CL_TRUE : CL_FALSE, 0,
                              count * sizeof(float), sum_.data(), 0, nullptr, nullptr),
          "clEnqueueReadBuffer");
  }

  /// Looks at the sum, and changes the operands for the next one.
  void check_and_vary() {
    const std::size_t count = sum_.size();
    for (std::size_t i = 0; i < count; ++i)
      if (sum_[i] != operands_[i] + operands_[count + i]) throw std::runtime_error("wrong sum");
    operands_[0] = operands_[0] > 1000 ? 0 : operands_[0] + 1;
  }

 private:
  void set_argument(cl_uint index, const Buffer& buffer) {
    cl_mem memory = buffer.get();
    check(clSetKernelArg(kernel_.get(), index, sizeof memory, &memory), "clSetKernelArg");
  }

  cl_command_queue queue_;
  Kernel kernel_;
  Buffer operand_buffer_;
  Buffer sum_buffer_;
  std::vector<float> operands_;
  std::vector<float> sum_;
};

constexpr const char* flag_source = R"(
kernel void answer(global atomic_uint* request, global atomic_uint* reply) {
  uint seen = 0;
  while (seen != UINT_MAX) {
    const uint word = atomic_load_explicit(request, memory_order_acquire, memory_scope_device);
    if (word == seen) continue;
    seen = word;
    atomic_store_explicit(reply, seen, memory_order_release, memory_scope_device);
  }
})";

}  // namespace

Measurement plain_add16() {
  const Session session(add_source);
  PlainAddition addition(session, 16);
  Latencies latencies;
  while (latencies.more()) {
    const Stopwatch watch;
    addition.enqueue(true);
    latencies.add(watch.us());
    addition.check_and_vary();
  }
  return latencies.result();
}

/// A chain of 20 additions, each a launch: one write before them, one read behind.
Measurement plain_launches20() {
  constexpr std::size_t count = 16, bytes = count * sizeof(float);
  const Session session(add_source);
  const Kernel kernel = session.kernel("add");
  const Buffer operands = session.buffer(2 * bytes);
  const Buffer sum = session.buffer(bytes);
  std::array<float, 2 * count> in{};
  std::array<float, count> out{};
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i);
  const auto argument = [&](cl_uint index, const Buffer& buffer) {
    cl_mem memory = buffer.get();
    check(clSetKernelArg(kernel.get(), index, sizeof memory, &memory), "clSetKernelArg");
  };
  argument(0, operands);
  argument(1, sum);
  const auto run = [&](bool last) {
    check(clEnqueueNDRangeKernel(session.queue(), kernel.get(), 1, nullptr, &count, &count, 0,
                                 nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    if (last)
      check(clEnqueueReadBuffer(session.queue(), sum.get(), CL_TRUE, 0, bytes, out.data(), 0,
                                nullptr, nullptr),
            "clEnqueueReadBuffer");
  };
  Latencies latencies;
  while (latencies.more()) {
    in[0] = in[0] > 1000 ? 0 : in[0] + 1;
    const Stopwatch watch;
    check(clEnqueueWriteBuffer(session.queue(), operands.get(), CL_FALSE, 0, 2 * bytes, in.data(),
                               0, nullptr, nullptr),
          "clEnqueueWriteBuffer");
    for (int op = 0; op < 20; ++op) run(op == 19);
    latencies.add(watch.us());
    for (std::size_t i = 0; i < count; ++i)
      if (out[i] != in[i] + in[count + i]) throw std::runtime_error("wrong sum");
  }
  return latencies.result();
}

/// Two batches: one is being checked and filled on the host while the other is with the device.
Measurement plain_vadd1k_pipelined() {
  constexpr std::size_t batch_size = 32;
  const Session session(add_source);
  std::array<std::vector<PlainAddition>, 2> batches;
  std::array<cl_event, 2> done{};
  for (auto& batch : batches)
    for (std::size_t i = 0; i < batch_size; ++i) batch.emplace_back(session, 256);
  const auto start = [&](std::size_t which) {
    for (PlainAddition& addition : batches[which]) addition.enqueue(false);
    check(clEnqueueMarkerWithWaitList(session.queue(), 0, nullptr, &done[which]),
          "clEnqueueMarker");
    check(clFlush(session.queue()), "clFlush");
  };
  const auto finish = [&](std::size_t which) {
    check(clWaitForEvents(1, &done[which]), "clWaitForEvents");
    clReleaseEvent(done[which]);
    for (PlainAddition& addition : batches[which]) addition.check_and_vary();
  };
  start(0);
  start(1);
  Rate rate;
  while (rate.more()) {
    for (std::size_t which = 0; which < batches.size(); ++which) {
      finish(which);
      start(which);
    }
    rate.add(batches.size() * batch_size);
  }
  Measurement measurement = rate.result();
  finish(0);
  finish(1);
  return measurement;
}

/// The floor of any resident kernel: one work-item that answers a flag, and a host that spins.
Measurement bare_flag() {
  using Flag = std::atomic<cl_uint>;
  constexpr std::size_t line = 128;
  const Session session(flag_source);
  const Kernel kernel = session.kernel("answer");
  auto* const memory = static_cast<std::byte*>(clSVMAlloc(
      session.context(), CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER | CL_MEM_SVM_ATOMICS,
      2 * line, line));
  if (memory == nullptr) throw Absent("clSVMAlloc: no fine-grained SVM with atomics");
  auto* const request = new (memory) Flag(0);
  auto* const reply = new (memory + line) Flag(0);
  check(clSetKernelArgSVMPointer(kernel.get(), 0, request), "clSetKernelArgSVMPointer");
  check(clSetKernelArgSVMPointer(kernel.get(), 1, reply), "clSetKernelArgSVMPointer");
  const std::size_t one = 1;
  check(clEnqueueNDRangeKernel(session.queue(), kernel.get(), 1, nullptr, &one, &one, 0, nullptr,
                               nullptr),
        "clEnqueueNDRangeKernel");
  check(clFlush(session.queue()), "clFlush");
  const auto ring = [&](cl_uint word) {
    request->store(word, std::memory_order_release);          // seen by the kernel's acquire
    while (reply->load(std::memory_order_acquire) != word) {  // its release
    }
  };
  Latencies latencies;
  for (cl_uint word = 1; latencies.more(); ++word) {
    const Stopwatch watch;
    ring(word);
    latencies.add(watch.us());
  }
  ring(CL_UINT_MAX);  // ends the kernel
  check(clFinish(session.queue()), "clFinish");
  clSVMFree(session.context(), memory);
  return latencies.result();
}

}  // namespace bench
