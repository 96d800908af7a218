// Breaks its own device and recovers: fault_layer.cpp stands between this and the driver. Prints
// what happened, for mind_device_test.cpp.
#include <boost/asio/use_future.hpp>
#include <cstdio>
#include <thread>

#include "ringkernel/mind_runtime.hpp"
#include "support/device_faults.hpp"
#include "support/mind.hpp"

namespace {

using namespace ringkernel;
using namespace ringkernel::test;
using namespace std::chrono_literals;

void print(const char* what, const Result<void>& result) {
  std::printf("%s: %s\n", what, result ? "ok" : result.error().text().c_str());
}

void print(const char* what, const std::vector<float>& elements) {
  std::printf("%s:", what);
  for (const float element : elements) std::printf(" %g", static_cast<double>(element));
  std::printf("\n");
}

void run() {
  // Parks at once, so that each op launches a slice.
  auto runtime = open_mind("opencl", {.runtime = {.park_after = 1us}});
  const Tensor x = filled(runtime, {4}, {1, 2, 3, 4});
  const Tensor out = filled(runtime, {4}, {7, 7, 7, 7});
  print("before", runtime.run_op("add", {x, x}, x));

  plan_faults("launch:all");
  Result<void> broken;
  while (broken) broken = runtime.run_op("copy", x, out);  // while the last slice is still there
  print("broken", broken);
  print("health", runtime.health());
  print("refused", runtime.run_op("relu", x, x));
  print("not yet", runtime.recover());
  print("still", runtime.health());
  plan_faults("none:0");

  print("recovered", runtime.recover());
  print("intact", contents(runtime, x));
  std::vector<float> elements(4);
  print("doubtful", runtime.read(out, elements));
  print("again", runtime.run_op("add", {x, x}, x));
  print("result", contents(runtime, x));
  print("written", runtime.write(x, elements, 10s));
}

}  // namespace

int main() {
  plan_faults("none:0");
  run();
  return 0;
}
