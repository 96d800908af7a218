// The strategies' baselines in plain OpenCL: everything is made once, only the last command of a
// message blocks.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "opencl.hpp"
#include "strategy_cases.hpp"

namespace bench {
namespace {

constexpr const char* source = R"(
kernel void copy(global const uint4* from, global uint4* to) {
  to[get_global_id(0)] = from[get_global_id(0)];
}

// Word 0 of each buffer is a flag, on a line of its own; 64 bytes behind it the payload begins.
kernel void answer(global uint* request, global uint* reply, uint vectors) {
  uint seen = 0;
  for (;;) {
    const uint word = atomic_load_explicit((global atomic_uint*)request, memory_order_acquire,
                                           memory_scope_device);
    if (word == UINT_MAX) return;
    if (word == seen) continue;
    seen = word;
    for (uint i = 1; i <= vectors; ++i) vstore16(vload16(i, request), i, reply);
    atomic_store_explicit((global atomic_uint*)reply, seen, memory_order_release,
                          memory_scope_device);
  }
})";

constexpr std::size_t line_bytes = 64;

void set_argument(const Kernel& kernel, cl_uint index, const Buffer& buffer) {
  cl_mem memory = buffer.get();
  check(clSetKernelArg(kernel.get(), index, sizeof memory, &memory), "clSetKernelArg");
}

void write(cl_command_queue queue, const Buffer& to, std::size_t offset, const void* from,
           std::size_t bytes) {
  check(clEnqueueWriteBuffer(queue, to.get(), CL_FALSE, offset, bytes, from, 0, nullptr, nullptr),
        "clEnqueueWriteBuffer");
}

void read(cl_command_queue queue, const Buffer& from, std::size_t offset, void* to,
          std::size_t bytes) {
  check(clEnqueueReadBuffer(queue, from.get(), CL_TRUE, offset, bytes, to, 0, nullptr, nullptr),
        "clEnqueueReadBuffer");
}

bool is_stamped(std::span<const std::byte> message, std::uint64_t number) {
  return std::memcmp(message.data(), &number, sizeof number) == 0 &&
         std::memcmp(message.last(sizeof number).data(), &number, sizeof number) == 0;
}

/// The resident kernel, and a host that talks to it through a second queue.
class Handwritten {
 public:
  explicit Handwritten(std::size_t bytes)
      : bytes_(bytes),
        session_(source),
        copies_(make("clCreateCommandQueue", clCreateCommandQueueWithProperties, session_.context(),
                     default_device(), nullptr)),
        kernel_(session_.kernel("answer")),
        request_buffer_(session_.buffer(line_bytes + bytes)),
        reply_buffer_(session_.buffer(line_bytes + bytes)),
        request_(line_bytes + bytes),
        reply_(line_bytes + bytes) {
    write(copies_.get(), request_buffer_, 0, request_.data(), request_.size());
    write(copies_.get(), reply_buffer_, 0, reply_.data(), reply_.size());
    check(clFinish(copies_.get()), "clFinish");
    set_argument(kernel_, 0, request_buffer_);
    set_argument(kernel_, 1, reply_buffer_);
    const auto vectors = static_cast<cl_uint>(bytes / line_bytes);
    check(clSetKernelArg(kernel_.get(), 2, sizeof vectors, &vectors), "clSetKernelArg");
    const std::size_t one = 1;
    check(clEnqueueNDRangeKernel(session_.queue(), kernel_.get(), 1, nullptr, &one, &one, 0,
                                 nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    check(clFlush(session_.queue()), "clFlush");
  }

  ~Handwritten() {
    flag_ = UINT32_MAX;
    clEnqueueWriteBuffer(copies_.get(), request_buffer_.get(), CL_TRUE, 0, sizeof flag_, &flag_, 0,
                         nullptr, nullptr);
    clFinish(session_.queue());
  }

  [[nodiscard]] std::span<std::byte> message() { return std::span(request_).subspan(line_bytes); }

  /// The message there and back.
  void round_trip(cl_uint number) {
    flag_ = number;
    write(copies_.get(), request_buffer_, line_bytes, message().data(), bytes_);
    write(copies_.get(), request_buffer_, 0, &flag_, sizeof flag_);
    check(clFlush(copies_.get()), "clFlush");
    // What is small comes with the flag; of what is large the flag is read first, since it would
    // be read in vain.
    const bool together = bytes_ <= together_max;
    const std::span<const std::byte> echo = std::span(reply_).subspan(line_bytes);
    for (;;) {
      read(copies_.get(), reply_buffer_, 0, reply_.data(),
           together ? line_bytes + bytes_ : sizeof flag_);
      if (std::memcmp(reply_.data(), &flag_, sizeof flag_) != 0) continue;
      // Of one read no order is promised: the stamps say whether the rest was there as well.
      if (together && !is_stamped(echo, number)) continue;
      break;
    }
    if (!together)
      read(copies_.get(), reply_buffer_, line_bytes, reply_.data() + line_bytes, bytes_);
  }

  void check_echo(cl_uint number) const {
    if (!is_stamped(std::span(reply_).subspan(line_bytes), number))
      throw std::runtime_error("the echo differs");
  }

 private:
  static constexpr std::size_t together_max = 4096;
  std::size_t bytes_;
  Session session_;
  Queue copies_;
  Kernel kernel_;
  Buffer request_buffer_;
  Buffer reply_buffer_;
  std::vector<std::byte> request_;
  std::vector<std::byte> reply_;
  cl_uint flag_ = 0;
};

/// Write, run, read.
class Plain {
 public:
  explicit Plain(std::size_t bytes)
      : session_(source),
        kernel_(session_.kernel("copy")),
        request_buffer_(session_.buffer(bytes)),
        reply_buffer_(session_.buffer(bytes)),
        request_(bytes),
        reply_(bytes) {
    set_argument(kernel_, 0, request_buffer_);
    set_argument(kernel_, 1, reply_buffer_);
  }

  [[nodiscard]] std::span<std::byte> message() { return request_; }

  void round_trip() {
    const std::size_t items = request_.size() / sizeof(cl_uint4);
    const std::size_t group = std::min<std::size_t>(items, 256);
    write(session_.queue(), request_buffer_, 0, request_.data(), request_.size());
    check(clEnqueueNDRangeKernel(session_.queue(), kernel_.get(), 1, nullptr, &items, &group, 0,
                                 nullptr, nullptr),
          "clEnqueueNDRangeKernel");
    read(session_.queue(), reply_buffer_, 0, reply_.data(), reply_.size());
  }

  void check_echo(std::uint64_t number) const {
    if (!is_stamped(reply_, number)) throw std::runtime_error("the echo differs");
  }

 private:
  Session session_;
  Kernel kernel_;
  Buffer request_buffer_;
  Buffer reply_buffer_;
  std::vector<std::byte> request_;
  std::vector<std::byte> reply_;
};

}  // namespace

Measurement handwritten_round_trip(std::size_t bytes) {
  Handwritten handwritten(bytes);
  Latencies latencies(strategy_limits);
  for (cl_uint number = 1; latencies.more(); ++number) {
    stamp(handwritten.message(), number);
    const Stopwatch watch;
    handwritten.round_trip(number);
    latencies.add(watch.us());
    handwritten.check_echo(number);
  }
  return latencies.result();
}

Measurement plain_round_trip(std::size_t bytes) {
  Plain plain(bytes);
  Latencies latencies(strategy_limits);
  for (std::uint64_t number = 1; latencies.more(); ++number) {
    stamp(plain.message(), number);
    const Stopwatch watch;
    plain.round_trip();
    latencies.add(watch.us());
    plain.check_echo(number);
  }
  return latencies.result();
}

Measurement plain_batch(std::size_t bytes) {
  Plain plain(bytes);
  std::uint64_t number = 0;
  Rate rate(strategy_limits);
  while (rate.more()) {
    for (std::size_t i = 0; i < batch_messages; ++i) {
      stamp(plain.message(), ++number);
      plain.round_trip();
      plain.check_echo(number);
    }
    rate.add(batch_messages);
  }
  return rate.result();
}

}  // namespace bench
