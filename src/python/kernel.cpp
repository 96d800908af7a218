#include "python/kernel.hpp"

#include <boost/container/static_vector.hpp>
#include <cstring>

#include "foundation/scope_guard.hpp"
#include "python/completions.hpp"
#include "python/errors.hpp"
#include "python/metrics.hpp"
#include "python/tensor.hpp"
#include "python/waiting.hpp"

namespace ringkernel::python {
namespace {

/// The operands of one request, which get into it, and how it is sent.
struct Asked {
  Operands<few_operands> operands;
  SendOptions options;

  Asked(Request& request, std::span<const nb::handle> given, nb::handle out, nb::handle timeout,
        int priority) {
    for (const nb::handle operand : given) operands.add(operand);
    const std::span<const TensorView> views = operands.views(request.op);
    if (views.size() > inputs_max)
      raise(Error(Errc::arity_mismatch, "no op takes " + std::to_string(views.size())));
    request.input_count = static_cast<std::uint32_t>(views.size());
    std::copy(views.begin(), views.end(), request.inputs.begin());
    if (const Tensor* const tensor = tensor_in(out)) request.output = tensor->id();
    options = {.timeout = timeout_from(timeout), .priority = priority};
  }
};

/// What follows the operands of a call by name.
struct Words {
  Request request;
  nb::object out = nb::none();
  nb::object timeout = nb::none();
  int priority = 0;

  Words(const std::string& op, const nb::kwargs& words) : request(request_of(op_from(op))) {
    const nb::object rest = nb::steal(PyDict_Copy(words.ptr()));
    const auto take = [&](const char* word, auto&& use) {
      if (!words.contains(word)) return;
      use(nb::object(words[word]));
      PyDict_DelItemString(rest.ptr(), word);
    };
    take("out", [&](nb::object value) { out = std::move(value); });
    take("timeout", [&](nb::object value) { timeout = std::move(value); });
    take("priority", [&](const nb::object& value) { priority = word_as<int>("priority", value); });
    request.attributes = attributes_from(request.op, nb::borrow<nb::dict>(rest));
  }
};

std::vector<nb::handle> handles_of(const nb::args& operands) {
  return {operands.begin(), operands.end()};
}

/// A reply's elements as what the caller wants.
nb::object result_of(const Reply& reply, const nb::object& out) {
  const TensorView& tensor = reply.tensor();
  if (tensor.desc.dtype == DType::none) return out;  // None, or the resident tensor
  Place place = place_for(out, tensor.desc, 0);
  std::memcpy(place.data, tensor.data, tensor.desc.bytes());
  return std::move(place.object);
}

/// How one plain message ended.
struct PlainOutcome {
  MessageId id = 0;
  nb::object value;
  nb::object error;

  /// For the collector.
  template <class Visit>
  int each(Visit&& visit) {
    const int stop = visit(value);
    return stop != 0 ? stop : visit(error);
  }
  [[nodiscard]] nb::object result() const {
    if (!error.is_valid() || error.is_none()) return value;
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
    throw nb::python_error();
  }
};

/// Elements, or None of an op that gives none; the bytes of another program's reply.
nb::object value_of_reply(const Reply& reply, bool is_of_op) {
  if (reply.tensor().desc.dtype != DType::none) return array_of(reply.tensor());
  return is_of_op ? nb::none() : nb::object(bytes_to(reply.bytes()));
}

PlainOutcome receive(KernelObject& object, nb::handle timeout) {
  std::chrono::nanoseconds patience = std::chrono::hours(24 * 365);
  if (!timeout.is_none()) {
    const auto seconds = nb::cast<double>(timeout);
    if (!(seconds >= 0)) raise_value_error("a timeout is a number of seconds, or None");
    patience = seconds == 0 ? std::chrono::nanoseconds(0) : timeout_from(timeout);
  }
  Result<Reply> reply = waiting([&] { return object.kernel().receive(patience); });
  if (reply) return {reply->id(), value_of_reply(*reply, object.takes_ops()), nb::none()};
  if (reply.error().message == 0) raise(reply.error());
  return {reply.error().message, nb::none(), to_exception(reply.error())};
}

template <class Holder>
const std::array<PyType_Slot, 3> holder_slots{
    {{Py_tp_traverse, reinterpret_cast<void*>(&traverse<Holder>)},
     {Py_tp_clear, reinterpret_cast<void*>(&clear<Holder>)},
     {0, nullptr}}};

// --- programs of one's own ----------------------------------------------------------------------

/// The message's bytes, and the method that they are for.
struct PlainMessage {
  std::vector<std::byte> bytes;
  std::optional<std::string> method;
  SendOptions options;

  PlainMessage(nb::handle data, std::optional<std::string> name, nb::handle timeout, int priority)
      : bytes(bytes_from(data)),
        method(std::move(name)),
        options{.timeout = timeout_from(timeout), .priority = priority} {}

  template <class Use>
  auto with(Use&& use) const {
    return method ? use(Message(*method, bytes)) : use(Bytes(bytes));
  }
};

nb::bytes call_bytes(KernelObject& object, nb::handle data, std::optional<std::string> method,
                     nb::handle timeout, int priority) {
  const PlainMessage message(data, std::move(method), timeout, priority);
  Result<Reply> reply = waiting([&] {
    return message.with(
        [&](const auto& content) { return object.kernel().call(content, message.options); });
  });
  if (!reply) raise(reply.error());
  return bytes_to(reply->bytes());
}

MessageId send_bytes(KernelObject& object, nb::handle data, std::optional<std::string> method,
                     nb::handle timeout, int priority) {
  const PlainMessage message(data, std::move(method), timeout, priority);
  return value_of(waiting([&] {
    return message.with(
        [&](const auto& content) { return object.kernel().send(content, message.options); });
  }));
}

nb::object start_bytes(KernelObject& object, nb::handle data, std::optional<std::string> method,
                       nb::handle timeout, int priority) {
  const PlainMessage message(data, std::move(method), timeout, priority);
  return Completions::of_running_loop().initiate<Reply>(
      nb::none(),
      [&](auto token) {
        message.with([&](const auto& content) {
          object.kernel().async_call(content, message.options, std::move(token));
        });
      },
      [](Pending&, Reply reply) -> nb::object { return bytes_to(reply.bytes()); });
}

std::string describe_kernel(KernelObject& object) {
  const KernelMetrics metrics = object.kernel().metrics();
  const std::string kind =
      metrics.behaviour.empty() ? metrics.program : metrics.program + "." + metrics.behaviour;
  return "<Kernel '" + object.kernel().id() + "', " + kind + ", " + name(object.kernel().status()) +
         ">";
}

}  // namespace

nb::object KernelObject::run_prepared(const Request& request, const SendOptions& options,
                                      nb::handle out, bool may_wait) {
  PreparedCalls::Entry* const entry = prepared_.take(kernel_, request);
  if (entry == nullptr) return {};
  const ScopeGuard giving_back([&]() noexcept { prepared_.give_back(*entry); });
  boost::container::static_vector<Elements, inputs_max> operands;
  for (const TensorView& input : std::span(request.inputs).first(request.input_count))
    if (input.tensor == 0) operands.emplace_back(input);
  Place place;
  boost::container::static_vector<ElementsOut, 1> places;
  if (request.output == 0) {
    place = place_for(out, entry->result, 0);
    places.emplace_back(entry->result, place.data);
  } else {
    place.object = nb::borrow(out);
  }
  if (!python::run(*entry->call, places, operands, options, may_wait, entry->is_short)) return {};
  return std::move(place.object);
}

Array KernelObject::run(Request& request, std::span<const nb::handle> operands, nb::handle out,
                        nb::handle timeout, int priority) {
  const Asked asked(request, operands, out, timeout, priority);
  nb::object made = run_prepared(request, asked.options, out, true);
  if (made.is_valid()) return as_array(std::move(made));
  const Reply reply = value_of(waiting([&] { return kernel_.call(request, asked.options); }));
  return as_array(result_of(reply, nb::borrow(out)));
}

Array KernelObject::call(const std::string& op, const nb::args& operands, nb::kwargs words) {
  Words given(op, words);
  return run(given.request, handles_of(operands), given.out, given.timeout, given.priority);
}

nb::object KernelObject::start(const std::string& op, const nb::args& operands, nb::kwargs words) {
  Words given(op, words);
  const Asked asked(given.request, handles_of(operands), given.out, given.timeout, given.priority);
  nb::object made = run_prepared(given.request, asked.options, given.out, false);
  if (made.is_valid()) return made;
  return Completions::of_running_loop().initiate<Reply>(
      given.out,
      [&](auto token) { kernel_.async_call(given.request, asked.options, std::move(token)); },
      [](Pending& pending, Reply reply) { return result_of(reply, pending.out); });
}

MessageId KernelObject::send(const std::string& op, const nb::args& operands, nb::kwargs words) {
  Words given(op, words);
  if (!given.out.is_none() && tensor_in(given.out) == nullptr)
    raise_type_error(
        "out: a message that is sent takes a resident tensor; receive() has the "
        "results of others");
  const Asked asked(given.request, handles_of(operands), given.out, given.timeout, given.priority);
  return value_of(waiting([&] { return kernel_.send(given.request, asked.options); }));
}

void bind_kernel(nb::module_& module) {
  nb::class_<PlainOutcome>(module, "Outcome", nb::type_slots(holder_slots<PlainOutcome>.data()),
                           "How a message that was sent has ended.")
      .def_ro("id", &PlainOutcome::id)
      .def_ro("value", &PlainOutcome::value, "An array, or the reply's bytes; None of an error.")
      .def_ro("error", &PlainOutcome::error, "The exception, or None.")
      .def("result", &PlainOutcome::result, "The value; raises the error.")
      .def("__repr__", [](const PlainOutcome& outcome) {
        return "<Outcome " + std::to_string(outcome.id) +
               (outcome.error.is_none() ? ">" : ", failed>");
      });
  auto kernel =
      nb::class_<KernelObject>(module, "Kernel", nb::is_weak_referenceable(),
                               nb::type_slots(holder_slots<KernelObject>.data()),
                               "A ring kernel: an actor on the device that takes messages. Made by "
                               "`Runtime.launch`. The end of a `with` block terminates it, after "
                               "what is queued.");
  kernel.def_prop_ro("id", [](KernelObject& k) { return k.kernel().id(); })
      .def_prop_ro("status", [](KernelObject& k) { return std::string(name(k.kernel().status())); })
      .def("activate",
           [](KernelObject& k) { value_of(waiting([&] { return k.kernel().activate(); })); })
      .def(
          "deactivate",
          [](KernelObject& k) { value_of(waiting([&] { return k.kernel().deactivate(); })); },
          "Returns when the device has let go of it; messages wait meanwhile.")
      .def(
          "terminate",
          [](KernelObject& k, bool drain, nb::handle timeout) {
            const TerminateOptions options{.drain = drain, .timeout = timeout_from(timeout)};
            value_of(waiting([&] { return k.kernel().terminate(options); }));
          },
          nb::kw_only(), "drain"_a = false, "timeout"_a = nb::none(),
          "Ends it. `drain`: after what is queued.")
      .def(
          "metrics", [](KernelObject& k) { return to_python(k.kernel().metrics()); },
          "What `rkstat kernel` shows of it.")
      .def("call", &KernelObject::call, "op"_a, "operands"_a, "words"_a,
           "The op of that name, with its attributes, `out`, `timeout` and `priority` as keywords.")
      .def("_start", &KernelObject::start)
      .def("send", &KernelObject::send, "op"_a, "operands"_a, "words"_a,
           "The same without waiting: gives the message's id. `receive` has its outcome.")
      .def("receive", &receive, "timeout"_a = nb::none(),
           "The next outcome of a message that was sent. None: waits for ever.")
      .def("call_bytes", &call_bytes, "data"_a, "method"_a = nb::none(), nb::kw_only(),
           "timeout"_a = nb::none(), "priority"_a = 0,
           "Bytes for a program of your own, and the reply's. `method`: of its schema; the bytes "
           "are then a finished FlatBuffer.")
      .def("send_bytes", &send_bytes, "data"_a, "method"_a = nb::none(), nb::kw_only(),
           "timeout"_a = nb::none(), "priority"_a = 0)
      .def("_interface",
           [](KernelObject& k) {
             const KernelInterface known = value_of(k.kernel().interface());
             const std::string& schema = known.schema.source().content();
             return nb::make_tuple(nb::bytes(schema.data(), schema.size()), known.behaviour);
           })
      .def("_start_bytes", &start_bytes, "data"_a, "method"_a.none(), "timeout"_a.none(),
           "priority"_a)
      .def(
          "read_state",
          [](KernelObject& k, std::size_t size) {
            std::vector<std::byte> state(size);
            value_of(waiting([&] { return k.kernel().read_state(state); }));
            return bytes_to(state);
          },
          "size"_a, "The state of a kernel that is not active; `size` is what it has.")
      .def(
          "write_state",
          [](KernelObject& k, nb::handle state) {
            const std::vector<std::byte> bytes = bytes_from(state);
            value_of(waiting([&] { return k.kernel().write_state(bytes); }));
          },
          "state"_a)
      .def(
          "state_json",
          [](KernelObject& k) {
            return value_of(waiting([&] { return k.kernel().state_json(); }));
          },
          "The state as JSON by the program's schema, at any time.")
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__",
           [](KernelObject& k, nb::args) {
             value_of(waiting([&] { return k.kernel().terminate({.drain = true}); }));
           })
      .def("__repr__", &describe_kernel);
  refuse_pickle(kernel, "a kernel cannot be pickled. Send kernel.id to who has the same runtime");
  OpMethods<KernelObject, nb::handle, nb::handle, int>::bind(
      kernel, nb::kw_only(), "out"_a = nb::none(), "timeout"_a = nb::none(), "priority"_a = 0);
}

}  // namespace ringkernel::python
