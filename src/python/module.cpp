/// The extension module `pyringkernel._core`. What is Python of the package lies in pyringkernel/.
#include "python/completions.hpp"
#include "python/errors.hpp"
#include "python/events.hpp"
#include "python/function.hpp"
#include "python/graph.hpp"
#include "python/kernel.hpp"
#include "python/mlir.hpp"
#include "python/runtime.hpp"
#include "python/tensor.hpp"
#include "ringkernel/version.hpp"

NB_MODULE(_core, module) {
  namespace python = ringkernel::python;
  // Objects that are alive when the interpreter ends are no leaks of ours to report.
  nanobind::set_leak_warnings(false);
  python::bind_errors(module);
  python::bind_tensor(module);
  python::bind_completions(module);
  python::bind_events(module);
  python::bind_kernel(module);
  python::bind_graph(module);
  python::bind_mlir(module);
  python::bind_function(module);
  python::bind_runtime(module);
}
