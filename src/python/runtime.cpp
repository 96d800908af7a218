#include "python/runtime.hpp"

#include "python/errors.hpp"
#include "python/events.hpp"
#include "python/function.hpp"
#include "python/graph.hpp"
#include "python/kernel.hpp"
#include "python/metrics.hpp"
#include "python/operands.hpp"
#include "python/waiting.hpp"
#include "python/words.hpp"
#include "ringkernel/ringkernel.hpp"

namespace ringkernel::python {
namespace {

/// A runtime whose end does not hold the interpreter's lock, which its log may want.
class RuntimeObject {
 public:
  explicit RuntimeObject(RingKernelRuntime runtime) : runtime_(std::move(runtime)) {}
  RuntimeObject(RuntimeObject&&) = delete;
  ~RuntimeObject() {
    const Unlocked unlocked;
    runtime_.reset();
  }
  [[nodiscard]] RingKernelRuntime& operator*() noexcept { return *runtime_; }
  [[nodiscard]] RingKernelRuntime* operator->() noexcept { return &*runtime_; }

 private:
  std::optional<RingKernelRuntime> runtime_;
};

/// The runtime's records as those of Python's `logging`, by `write(level, text)`.
class PythonLog final : public LogSink {
 public:
  explicit PythonLog(nb::object write) : write_(std::move(write)) {}
  ~PythonLog() override {
    if (Unlocked::is_locked_out()) {
      (void)write_.release();
      return;
    }
    const nb::gil_scoped_acquire locked;
    write_.reset();
  }
  void write(const LogRecord& record) override {
    if (Unlocked::is_locked_out()) return;
    std::string text(record.text);
    if (!record.kernel.empty()) text = std::string(record.kernel) + ": " + text;
    if (record.left_out != 0) text += " (" + std::to_string(record.left_out) + " more like it)";
    const nb::gil_scoped_acquire locked;
    try {
      write_(static_cast<int>(record.level), text);
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("a log record of a ringkernel runtime");
    }
  }

 private:
  nb::object write_;
};

constexpr Word<BackendTarget> targets[] = {{"automatic", BackendTarget::automatic},
                                           {"cpu", BackendTarget::cpu},
                                           {"gpu", BackendTarget::gpu}};
constexpr Word<Transfer> transfers[] = {{"automatic", Transfer::automatic},
                                        {"zero_copy", Transfer::zero_copy},
                                        {"dma", Transfer::dma},
                                        {"sliced", Transfer::sliced}};
constexpr Word<Backpressure> policies[] = {{"block", Backpressure::block},
                                           {"reject", Backpressure::reject},
                                           {"drop_oldest", Backpressure::drop_oldest},
                                           {"drop_newest", Backpressure::drop_newest}};

void open_runtime(RuntimeObject* self, const std::string& target, const std::string& backend,
                  std::optional<std::uint32_t> device, std::string name, std::uint64_t arena_bytes,
                  const std::string& transfer, nb::handle call_timeout, std::string http_address,
                  bool telemetry, nb::object log) {
  RuntimeOptions options;
  options.name = std::move(name);
  options.arena_bytes = arena_bytes;
  options.transfer = look_up(transfers, nb::cast(transfer), "transfer");
  if (!call_timeout.is_none()) options.call_timeout = timeout_from(call_timeout);
  options.http_address = std::move(http_address);
  options.telemetry = telemetry;
  RuntimeBuilder builder = RingKernelRuntime::builder();
  builder.target(look_up(targets, nb::cast(target), "target")).backend(backend).options(options);
  if (device) builder.device(*device);
  if (!log.is_none()) builder.log(std::make_shared<PythonLog>(std::move(log)));
  Result<RingKernelRuntime> runtime = waiting([&] { return builder.build(); });
  if (!runtime) raise(runtime.error());
  new (self) RuntimeObject(std::move(*runtime));
}

std::unique_ptr<KernelObject> object_of(RuntimeObject& runtime, Kernel kernel,
                                        const std::string& program) {
  const Result<ProgramInfo> info = runtime->program(program);
  return std::make_unique<KernelObject>(std::move(kernel), nb::find(&runtime),
                                        info && info->takes_ops);
}

std::unique_ptr<KernelObject> launch(RuntimeObject& runtime, const std::string& id,
                                     std::string program, std::string behaviour, bool activate,
                                     std::uint32_t input_bytes, std::uint32_t output_bytes,
                                     std::uint32_t in_flight_max, std::uint32_t queue_max,
                                     const std::string& backpressure) {
  KernelOptions options;
  options.program = std::move(program);
  options.behaviour = std::move(behaviour);
  options.auto_activate = activate;
  options.input_bytes = input_bytes;
  options.output_bytes = output_bytes;
  options.in_flight_max = in_flight_max;
  options.queue_max = queue_max;
  options.backpressure = look_up(policies, nb::cast(backpressure), "backpressure");
  Kernel kernel = value_of(waiting([&] { return runtime->launch(id, options); }));
  return object_of(runtime, std::move(kernel), options.program);
}

std::unique_ptr<FunctionObject> compile(RuntimeObject& runtime, GraphObject& graph) {
  return std::make_unique<FunctionObject>(
      value_of(waiting([&] { return runtime->compile(graph.graph()); })), nb::find(&runtime));
}

/// What a program is made of: text, or files by their paths.
ProgramDesc program_from(std::string name, std::string source, std::optional<std::string> path,
                         std::optional<nb::bytes> schema, std::string schema_name,
                         std::string schema_text, std::uint32_t state_bytes,
                         std::uint32_t reply_bytes, std::optional<bool> guard) {
  ProgramDesc program;
  program.source =
      path ? Source::file(std::move(*path)) : Source::text(name + ".cl", std::move(source));
  if (schema)
    program.schema = Schema::binary(std::move(schema_name), {schema->c_str(), schema->size()},
                                    std::move(schema_text));
  program.name = std::move(name);
  program.state_bytes = state_bytes;
  program.reply_bytes = reply_bytes;
  if (guard) program.guard = *guard;
  return program;
}

std::string describe_runtime(RuntimeObject& runtime) {
  const RuntimeMetrics metrics = runtime->metrics();
  constexpr std::uint64_t mebi = std::uint64_t{1} << 20;
  const std::string called = metrics.name.empty() ? "" : "'" + metrics.name + "', ";
  return "<Runtime " + called + metrics.backend + " on " + metrics.device + ", " +
         std::to_string(metrics.kernels) + " kernels, arena " +
         std::to_string((metrics.arena_bytes - metrics.arena_free_bytes) / mebi) + " of " +
         std::to_string(metrics.arena_bytes / mebi) + " MiB>";
}

}  // namespace

void bind_runtime(nb::module_& module) {
  module.def("end_interpreter", &Unlocked::end_interpreter, "For atexit.");
  nb::class_<SwapInfo>(module, "SwapInfo", "How a program took another one's place.")
      .def_ro("version", &SwapInfo::version)
      .def_prop_ro(
          "pause", [](const SwapInfo& s) { return static_cast<double>(s.pause.count()) * 1e-9; },
          "Seconds that messages waited for it at most.")
      .def_ro("migrated", &SwapInfo::migrated);
  const KernelOptions kernel;
  const RuntimeOptions defaults;
  nb::class_<RuntimeObject> runtime(module, "RuntimeBase", nb::is_weak_referenceable());
  refuse_pickle(runtime, "a runtime cannot be pickled: open one in each process");
  runtime
      .def("__init__", &open_runtime, nb::kw_only(), "target"_a = "automatic", "backend"_a = "",
           "device"_a = nb::none(), "name"_a = "", "arena_bytes"_a = defaults.arena_bytes,
           "transfer"_a = "automatic", "call_timeout"_a = nb::none(), "http_address"_a = "",
           "telemetry"_a = true, "log"_a = nb::none())
      .def("launch", &launch, "id"_a, "program"_a = kernel.program, "behaviour"_a = "",
           nb::kw_only(), "activate"_a = true, "input_bytes"_a = kernel.input_bytes,
           "output_bytes"_a = kernel.output_bytes, "in_flight_max"_a = kernel.in_flight_max,
           "queue_max"_a = kernel.queue_max, "backpressure"_a = "block",
           "A ring kernel of the program `core` (ops), `echo`, or one of your own.")
      .def(
          "kernel",
          [](RuntimeObject& r, const std::string& id) {
            Kernel found = value_of(r->kernel(id));
            const std::string program = found.metrics().program;
            return object_of(r, std::move(found), program);
          },
          "id"_a, "The kernel that was launched under this id.")
      .def(
          "kernels", [](RuntimeObject& r) { return r->kernels(); },
          "Ids of all kernels that have not ended, sorted.")
      .def(
          "tensor",
          [](RuntimeObject& r, nb::handle shape, nb::handle dtype) {
            const TensorDesc desc{dtype_from(dtype), shape_from(shape)};
            return value_of(waiting([&] { return r->allocate(desc); }));
          },
          nb::keep_alive<0, 1>(), "shape"_a, "dtype"_a = nb::none(),
          "Elements that stay on the device, zeros at first.")
      .def("compile", &compile, "graph"_a, "Makes a graph ready to be run by one message.")
      .def(
          "metrics", [](RuntimeObject& r) { return to_python(r->metrics()); },
          "What `rkstat` shows of the runtime.")
      .def(
          "errors",
          [](RuntimeObject& r) {
            std::vector<ErrorRecordData> records;
            for (const ErrorRecord& record : r->errors()) records.push_back(to_python(record));
            return records;
          },
          "What went wrong so far, and how often, of kernels that are gone too.")
      .def(
          "_events",
          [](RuntimeObject& r, double repeat_period) {
            return r->events(event_options_from(repeat_period));
          },
          "repeat_period"_a)
      .def("defragment",
           [](RuntimeObject& r) { value_of(waiting([&] { return r->defragment(); })); })
      .def(
          "restart",
          [](RuntimeObject& r, const std::string& program) {
            value_of(waiting([&] { return r->restart(program); }));
          },
          "program"_a, "The way back after a device error: ends the program's kernels.")
      .def(
          "_add_program",
          [](RuntimeObject& r, std::string name, std::string source,
             std::optional<std::string> path, std::optional<nb::bytes> schema,
             std::string schema_name, std::string schema_text, std::uint32_t state_bytes,
             std::uint32_t reply_bytes, std::optional<bool> guard) {
            const ProgramDesc program = program_from(
                std::move(name), std::move(source), std::move(path), std::move(schema),
                std::move(schema_name), std::move(schema_text), state_bytes, reply_bytes, guard);
            (void)value_of(waiting([&] { return r->add_program(program); }));
          },
          "name"_a, "source"_a, "path"_a.none(), "schema"_a.none(), "schema_name"_a,
          "schema_text"_a, "state_bytes"_a, "reply_bytes"_a, "guard"_a.none())
      .def(
          "_swap_program",
          [](RuntimeObject& r, std::string name, std::string source,
             std::optional<std::string> path, std::optional<nb::bytes> schema,
             std::string schema_name, std::string schema_text, std::uint32_t state_bytes,
             std::uint32_t reply_bytes, std::optional<bool> guard) {
            const ProgramDesc program = program_from(
                std::move(name), std::move(source), std::move(path), std::move(schema),
                std::move(schema_name), std::move(schema_text), state_bytes, reply_bytes, guard);
            return value_of(waiting([&] { return r->swap_program(program); }));
          },
          "name"_a, "source"_a, "path"_a.none(), "schema"_a.none(), "schema_name"_a,
          "schema_text"_a, "state_bytes"_a, "reply_bytes"_a, "guard"_a.none())
      .def(
          "swap_back",
          [](RuntimeObject& r, const std::string& name) {
            return value_of(waiting([&] { return r->swap_back(name); }));
          },
          "name"_a, "The build before takes its place again.")
      .def(
          "close", [](RuntimeObject& r) { value_of(waiting([&] { return r->shutdown(); })); },
          "Ends every kernel and gives the device back. Idempotent.")
      .def("__repr__", &describe_runtime);
}

}  // namespace ringkernel::python
