#include "python/events.hpp"

#include <algorithm>

#include "python/completions.hpp"
#include "python/errors.hpp"

namespace ringkernel::python {
namespace {

/// The dataclass of events.py.
nb::object to_python(const Event& event) {
  nb::dict fields;
  fields["kernel"] = event.kernel;
  if (event.status)
    fields["status"] = name(*event.status);
  else
    fields["error"] = to_exception(event.error);
  fields["time_ns"] = event.time_ns;
  fields["missed"] = event.missed;
  fields["left_out"] = event.left_out;
  return nb::module_::import_("pyringkernel.events").attr("Event")(**fields);
}

nb::object start_next(EventStream& stream, Completions& completions) {
  return completions.initiate<Event>(
      nb::none(), [&](auto token) { stream.async_next(std::move(token)); },
      [](Pending&, const Event& event) { return to_python(event); });
}

}  // namespace

EventOptions event_options_from(double repeat_period) {
  if (!(repeat_period >= 0)) raise_value_error("repeat_period is a number of seconds, or 0");
  constexpr double longest = 1e9;  // seconds; 31 years
  const double ns = std::min(repeat_period, longest) * 1e9;
  return {.repeat_period = std::chrono::nanoseconds(static_cast<std::int64_t>(ns))};
}

void bind_events(nb::module_& module) {
  nb::class_<EventStream>(module, "EventStream", "A subscription; not for users.")
      .def("start_next", &start_next, "completions"_a,
           nb::sig("def start_next(self, completions: Completions) -> Any"),
           "The next event, or the `Pending` that will have it.");
}

}  // namespace ringkernel::python
