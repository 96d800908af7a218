#include "python/completions.hpp"

#include <array>

namespace ringkernel::python {

nb::object Pending::take() {
  if (!error.is_valid()) return std::move(value);
  const nb::object raised = std::move(error);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
  throw nb::python_error();
}

Completions::Completions() : queue_(value_of(CompletionQueue::open())) {}

Completions& Completions::of_running_loop() {
  // The loop keeps it.
  const nb::object found = nb::module_::import_("pyringkernel.aio").attr("of_running_loop")();
  return *nb::inst_ptr<Completions>(found);
}

Pending& Completions::pending(std::uint64_t number) {
  return *nb::inst_ptr<Pending>(pending_.at(number));
}

void Completions::finish(std::uint64_t number, nb::object value, nb::object error) {
  const nb::object object = std::move(pending_.at(number));
  pending_.erase(number);
  Pending& over = *nb::inst_ptr<Pending>(object);
  over.out.reset();
  const nb::object future = std::move(over.future);
  if (!future.is_valid()) {  // it is initiated yet, or nobody waits any more
    over.value = std::move(value);
    over.error = std::move(error);
    return;
  }
  if (nb::cast<bool>(future.attr("done")())) return;
  if (error.is_valid())
    future.attr("set_exception")(error);
  else
    future.attr("set_result")(value);
}

namespace {

const std::array<PyType_Slot, 3> pending_slots{
    {{Py_tp_traverse, reinterpret_cast<void*>(&traverse<Pending>)},
     {Py_tp_clear, reinterpret_cast<void*>(&clear<Pending>)},
     {0, nullptr}}};

}  // namespace

void bind_completions(nb::module_& module) {
  nb::class_<Pending>(module, "Pending", nb::type_slots(pending_slots.data()),
                      "An operation under way; not for users.")
      .def("attach",
           [](Pending& pending, nb::object future) {
             if (pending.error.is_valid())
               future.attr("set_exception")(std::exchange(pending.error, nb::object()));
             else if (pending.value.is_valid())
               future.attr("set_result")(std::exchange(pending.value, nb::object()));
             else
               pending.future = std::move(future);
           })
      .def("cancel", [](Pending& pending) {
        pending.future.reset();  // nobody waits any more
        pending.cancellation.emit(boost::asio::cancellation_type::all);
      });
  nb::class_<Completions>(module, "Completions", nb::is_weak_referenceable(),
                          "Of one event loop; not for users.")
      .def(nb::init<>())
      .def_prop_ro("descriptor", &Completions::descriptor)
      .def("run", &Completions::run);
}

}  // namespace ringkernel::python
