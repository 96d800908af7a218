#include "lanes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "backend/opencl/memory.hpp"
#include "backend/opencl/program.hpp"
#include "backend/opencl/query.hpp"
#include "runs.hpp"

namespace rkc {

namespace {

using ringkernel::Errc;
using ringkernel::Error;
using ringkernel::Result;
using ringkernel::opencl::check;
using ringkernel::opencl::cl;
namespace opencl = ringkernel::opencl;

/// A method is not run again after as many messages with reports.
constexpr unsigned bad_messages_max = 8;

const opencl::FoundDevice* find_oclgrind() {
  for (const opencl::FoundDevice& found : opencl::discover().devices)
    if (std::string_view(found.description.platform).starts_with("Oclgrind")) return &found;
  return nullptr;
}

struct CloseFile {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using CFile = std::unique_ptr<std::FILE, CloseFile>;

/// A message with the state that it finds.
struct Task {
  rk_check_message head;
  Bytes payload;
  Bytes state;
};

bool read_padded(std::FILE* from, Bytes& bytes, std::size_t count) {
  std::array<std::byte, 8> padding;
  const std::size_t rest = (8 - count % 8) % 8;
  bytes.resize(count);
  return std::fread(bytes.data(), 1, count, from) == count &&
         std::fread(padding.data(), 1, rest, from) == rest;
}

bool read_task(std::FILE* from, Task& task) {
  return std::fread(&task.head, sizeof task.head, 1, from) == 1 &&
         read_padded(from, task.payload, task.head.payload_bytes) &&
         read_padded(from, task.state, task.head.state_bytes);
}

void write_padded(std::FILE* to, const Bytes& bytes) {
  const std::array<std::byte, 8> padding{};
  std::fwrite(bytes.data(), 1, bytes.size(), to);
  std::fwrite(padding.data(), 1, (8 - bytes.size() % 8) % 8, to);
}

class Lanes {
 public:
  static Result<Lanes> open(const std::string& text, unsigned lanes) {
    const opencl::FoundDevice* const found = find_oclgrind();
    if (found == nullptr)
      return Error(Errc::backend_unavailable, "Oclgrind is not OpenCL's library here");
    cl_int status = CL_SUCCESS;
    opencl::Context context(
        cl().clCreateContext(nullptr, 1, &found->id, nullptr, nullptr, &status));
    RK_TRY_VOID(check("clCreateContext", status));
    RK_TRY(queue, opencl::make_queue(context.get(), found->id));
    RK_TRY(options, opencl::build_options(found->id));
    if (lanes > 1) options += fmt::format(" -DRK_TEAM={}", lanes);
    opencl::BinaryCache cache(*found);
    RK_TRY(built, opencl::build_text(context.get(), found->id, "rkc check", text, options, cache));
    RK_TRY(kernel, opencl::make_kernel(built.program.get(), "rk_check"));
    return Lanes(std::move(context), std::move(queue), std::move(built.program), std::move(kernel),
                 lanes);
  }

  Result<Outcome> run(const Task& task) {
    const rk_check_message& head = task.head;
    RK_TRY(payload, buffer_of(task.payload));
    RK_TRY(state, buffer_of(task.state));
    // Memory that the host has not written stays uninitialised for Oclgrind, whatever is stored.
    RK_TRY(reply, buffer_of(Bytes(head.reply_bytes, std::byte{0x5a})));
    std::array<cl_ulong, 3> said{};
    RK_TRY(out, buffer_of(Bytes(sizeof said)));
    RK_TRY_VOID(set(0, payload));
    RK_TRY_VOID(set(1, head.payload_bytes));
    RK_TRY_VOID(set(2, head.selector));
    RK_TRY_VOID(set(3, reply));
    RK_TRY_VOID(set(4, head.reply_bytes));
    RK_TRY_VOID(set(5, state));
    RK_TRY_VOID(set(6, head.state_bytes));
    RK_TRY_VOID(set(7, head.behaviour));
    RK_TRY_VOID(set(8, head.is_migration));
    RK_TRY_VOID(set(9, out));
    RK_TRY_VOID(check("clEnqueueNDRangeKernel",
                      cl().clEnqueueNDRangeKernel(queue_.get(), kernel_.get(), 1, nullptr, &lanes_,
                                                  &lanes_, 0, nullptr, nullptr)));
    RK_TRY_VOID(check("clFinish", cl().clFinish(queue_.get())));
    Outcome outcome{.reply = Bytes(head.reply_bytes), .state = Bytes(head.state_bytes)};
    RK_TRY_VOID(read(out, said.data(), sizeof said));
    RK_TRY_VOID(read(reply, outcome.reply.data(), outcome.reply.size()));
    RK_TRY_VOID(read(state, outcome.state.data(), outcome.state.size()));
    outcome.result = {.fault_detail = said[1],
                      .outcome = static_cast<std::uint32_t>(said[0]),
                      .reply_bytes = static_cast<std::uint32_t>(said[2])};
    return outcome;
  }

 private:
  Lanes(opencl::Context context, opencl::Queue queue, opencl::ClProgram program,
        opencl::ClKernel kernel, std::size_t lanes)
      : context_(std::move(context)),
        queue_(std::move(queue)),
        program_(std::move(program)),
        kernel_(std::move(kernel)),
        lanes_(lanes) {}

  /// Not one byte more than there is; but no buffer is empty.
  Result<opencl::Buffer> buffer_of(const Bytes& bytes) {
    cl_int status = CL_SUCCESS;
    opencl::Buffer made(cl().clCreateBuffer(context_.get(), CL_MEM_READ_WRITE,
                                            std::max<std::size_t>(bytes.size(), 1), nullptr,
                                            &status));
    RK_TRY_VOID(check("clCreateBuffer", status));
    if (!bytes.empty())
      RK_TRY_VOID(
          check("clEnqueueWriteBuffer",
                cl().clEnqueueWriteBuffer(queue_.get(), made.get(), CL_TRUE, 0, bytes.size(),
                                          bytes.data(), 0, nullptr, nullptr)));
    return made;
  }

  Result<void> read(const opencl::Buffer& from, void* to, std::size_t bytes) {
    if (bytes == 0) return {};
    return check("clEnqueueReadBuffer",
                 cl().clEnqueueReadBuffer(queue_.get(), from.get(), CL_TRUE, 0, bytes, to, 0,
                                          nullptr, nullptr));
  }

  Result<void> set(cl_uint index, cl_uint number) {
    return check("clSetKernelArg",
                 cl().clSetKernelArg(kernel_.get(), index, sizeof number, &number));
  }
  Result<void> set(cl_uint index, const opencl::Buffer& buffer) {
    const cl_mem memory = buffer.get();
    return check("clSetKernelArg",
                 cl().clSetKernelArg(kernel_.get(), index, sizeof(cl_mem), &memory));
  }

  opencl::Context context_;
  opencl::Queue queue_;
  opencl::ClProgram program_;
  opencl::ClKernel kernel_;
  std::size_t lanes_;
};

Result<void> run_all(const LanesInputs& inputs) {
  std::ifstream file(inputs.text, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  RK_TRY(lanes, Lanes::open(text, inputs.lanes));
  const CFile messages(std::fopen(inputs.messages.c_str(), "rbe"));
  const CFile results(std::fopen(inputs.results.c_str(), "wbe"));
  if (!messages || !results) return Error(Errc::device_error, "a file cannot be opened");
  const itimerval limit{.it_interval = {},
                        .it_value = {.tv_sec = static_cast<time_t>(inputs.seconds), .tv_usec = 0}};
  Task task;
  // messages with reports, by behaviour and method
  std::map<std::pair<std::uint32_t, std::uint32_t>, unsigned> bad;
  for (std::size_t number = 0; read_task(messages.get(), task); ++number) {
    // Not buffered, as Oclgrind's reports are not, so that they stand in their order.
    dprintf(STDERR_FILENO, RK_CHECK_MARK "%zu\n", number);
    setitimer(ITIMER_PROF, &limit, nullptr);
    // Oclgrind's reports of one mistake would be all that it says.
    Outcome outcome{.reply = Bytes(task.head.reply_bytes), .state = task.state};
    unsigned& bad_ones = bad[{task.head.behaviour, task.head.selector}];
    // One lane of a runtime migrates, however many it has.
    const bool is_run = task.head.is_migration == 0 || inputs.lanes == 1;
    if (is_run && bad_ones < bad_messages_max) {
      const off_t before = lseek(STDERR_FILENO, 0, SEEK_END);
      RK_TRY(ran, lanes.run(task));
      outcome = std::move(ran);
      if (lseek(STDERR_FILENO, 0, SEEK_END) != before) ++bad_ones;
    }
    std::fwrite(&outcome.result, sizeof outcome.result, 1, results.get());
    write_padded(results.get(), outcome.reply);
    write_padded(results.get(), outcome.state);
    if (std::fflush(results.get()) != 0)
      return Error(Errc::device_error, inputs.results + " cannot be written");
  }
  return {};
}

}  // namespace

int run_lanes(const LanesInputs& inputs) {
  const int log = open(inputs.log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0) return 2;
  const Result<void> done = run_all(inputs);
  if (done.has_value()) return 0;
  fmt::print(stderr, "{}\n", done.error().detail);
  return 1;
}

}  // namespace rkc
