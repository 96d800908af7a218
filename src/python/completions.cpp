#include "python/completions.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <system_error>

namespace ringkernel::python {

nb::object Pending::take() {
  if (!error.is_valid()) return std::move(value);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

Completions::Completions() : descriptor_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Completions::~Completions() {
  shutdown();  // what waits is cancelled, its handlers are destroyed
  destroy();
  ::close(descriptor_);
}

Completions& Completions::of_running_loop() {
  // The loop keeps it.
  const nb::object found = nb::module_::import_("pyringkernel.aio").attr("of_running_loop")();
  return *nb::inst_ptr<Completions>(found);
}

void Completions::put(std::unique_ptr<Task> task) {
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    wakes = tasks_.empty() && !polling_;
    tasks_.push_back(std::move(task));
  }
  const std::uint64_t one = 1;
  // It cannot be full: it is read before what it stands for is taken.
  if (wakes) (void)!::write(descriptor_, &one, sizeof(one));
}

void Completions::poll() {
  for (;;) {
    std::vector<std::unique_ptr<Task>> tasks;
    {
      const std::lock_guard lock(mutex_);
      polling_ = !tasks_.empty();
      if (!polling_) return;
      tasks.swap(tasks_);
    }
    for (const std::unique_ptr<Task>& task : tasks) task->run();
  }
}

void Completions::run() {
  std::uint64_t count = 0;
  (void)!::read(descriptor_, &count, sizeof(count));
  poll();
}

Pending& Completions::pending(std::uint64_t number) {
  return *nb::inst_ptr<Pending>(pending_.at(number));
}

void Completions::finish(std::uint64_t number, nb::object value, nb::object error) {
  const nb::object object = std::move(pending_.at(number));
  pending_.erase(number);
  Pending& over = *nb::inst_ptr<Pending>(object);
  over.value = std::move(value);
  over.error = std::move(error);
  over.out.reset();
  if (!over.future.is_valid() || nb::cast<bool>(over.future.attr("done")())) return;
  if (over.error.is_valid())
    over.future.attr("set_exception")(over.error);
  else
    over.future.attr("set_result")(over.value);
}

void bind_completions(nb::module_& module) {
  nb::class_<Pending>(module, "Pending", "An operation under way; not for users.")
      .def("attach", [](Pending& pending, nb::object future) { pending.future = future; })
      .def("cancel", [](Pending& pending) {
        pending.future.reset();  // nobody waits any more
        pending.cancellation.emit(boost::asio::cancellation_type::all);
      });
  nb::class_<Completions>(module, "Completions", "Of one event loop; not for users.")
      .def(nb::init<>())
      .def_prop_ro("descriptor", &Completions::descriptor)
      .def("run", &Completions::run);
}

}  // namespace ringkernel::python
