// A forked child has its parent's runtimes and none of their threads: it is told so at once, ends
// without waiting for anything, and may make a runtime of its own.
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdlib>
#include <optional>
#include <thread>

#include "support/backends.hpp"

namespace ringkernel::test {
namespace {

/// A child lacks the stacks that hold what its parent's other threads own.
bool leaks_are_the_parents = false;

}  // namespace
}  // namespace ringkernel::test

extern "C" int __lsan_is_turned_off() {  // NOLINT: the sanitizer's name
  return ringkernel::test::leaks_are_the_parents ? 1 : 0;
}

namespace ringkernel::test {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// Goes with the process, and in its children.
std::optional<RingKernelRuntime> static_runtime;

/// Where a child stops, as a number that its parent sees; SIGALRM if it hangs.
#define CHILD_EXPECT(condition) \
  if (!(condition))             \
  return std::fprintf(stderr, "line %d: %s\n", __LINE__, #condition), __LINE__ % 256

class Fork : public OnEachBackend {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    RK_SKIP_UNSUPPORTED("ThreadSanitizer does not follow a child that starts threads");
#endif
    OnEachBackend::SetUp();
  }

  /// What `body` returns in a child, which ends by `exit`.
  template <class Body>
  static int in_child(Body&& body) {
    const pid_t child = fork();
    if (child == 0) {
      leaks_are_the_parents = true;
      alarm(60);
      std::exit(body());
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

  /// Calls a kernel as often as it can, from two threads, one of which goes asleep now and then.
  class Busy {
   public:
    explicit Busy(const Kernel& kernel) {
      for (int i = 0; i < 2; ++i)
        threads_.emplace_back([this, kernel = Kernel(kernel)]() mutable {
          while (!is_over_.load()) {
            (void)kernel.call(numbered(1));
            (void)kernel.send(numbered(2));
            (void)kernel.receive(1s);
          }
        });
    }
    ~Busy() {
      is_over_.store(true);
      for (std::thread& thread : threads_) thread.join();
    }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    std::atomic<bool> is_over_{false};
    std::vector<std::thread> threads_;
  };
};
INSTANTIATE_TEST_SUITE_P(Backends, Fork, ::testing::ValuesIn(backend_names()), backend_label);

template <class T>
bool is_refused(const Result<T>& result) {
  return result.has_error() && result.error() == Errc::invalid_state &&
         result.error().detail.find("made before fork") != std::string::npos;
}

TEST_P(Fork, EverythingThatWasMadeBeforeAnswersAtOnce) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  auto tensor = runtime.allocate({DType::f32, {2}}).value();
  Graph graph("twice");
  const auto x = graph.input({DType::f32, {2}});
  graph.output(graph.add(ops::add(x, x)));
  const auto function = runtime.compile(graph).value();
  EventStream events = runtime.events();
  const auto message = numbered(1);
  const std::array values{1.0f, 2.0f};
  std::array read{0.0f, 0.0f};
  const auto body = [&] {
    CHILD_EXPECT(is_refused(kernel.call(message)));
    CHILD_EXPECT(is_refused(kernel.send(message)));
    CHILD_EXPECT(is_refused(kernel.receive(20s)));
    CHILD_EXPECT(is_refused(kernel.deactivate()));
    CHILD_EXPECT(is_refused(kernel.terminate()));
    CHILD_EXPECT(kernel.status() == KernelStatus::failed);
    CHILD_EXPECT(kernel.metrics().accepted == 0);
    CHILD_EXPECT(is_refused(runtime.launch("b")));
    CHILD_EXPECT(is_refused(runtime.call("a", Bytes(message))));
    CHILD_EXPECT(is_refused(runtime.allocate({DType::f32, {2}})));
    CHILD_EXPECT(is_refused(runtime.compile(graph)));
    CHILD_EXPECT(is_refused(runtime.restart("echo")));
    CHILD_EXPECT(is_refused(runtime.shutdown()));
    CHILD_EXPECT(runtime.kernels().empty());
    CHILD_EXPECT(is_refused(tensor.write(values)));
    CHILD_EXPECT(is_refused(tensor.read(read)));
    CHILD_EXPECT(is_refused(function.execute(values)));
    asio::io_context context;
    int refused = 0;
    const auto count = [&] {
      return asio::bind_executor(context, [&](error_code error, auto&&...) {
        if (error == Errc::invalid_state) ++refused;
      });
    };
    kernel.async_call(Bytes(message), count());
    kernel.async_send(Bytes(message), count());
    kernel.async_receive(count());
    kernel.async_terminate({}, count());
    runtime.async_launch("b", {}, count());
    function.async_execute(values, count());
    events.async_next(count());
    context.run();
    CHILD_EXPECT(refused == 7);
    return 0;
  };
  const Busy busy(kernel);
  for (int i = 0; i < 20; ++i) ASSERT_EQ(in_child(body), 0);
  EXPECT_EQ(number_of(kernel.call(message).value()), 1u) << "the parent's own goes on";
}

/// With handlers that wait, answers under way, a copy of everything, and a runtime that goes with
/// the process.
TEST_P(Fork, AChildEndsWithoutWaiting) {
  static_runtime.emplace(open());
  Kernel kernel = active(*static_runtime, "a");
  auto runtime = std::make_unique<RingKernelRuntime>(open());
  auto other = std::make_unique<Kernel>(resting(*runtime, "b"));
  auto tensor = std::make_unique<Tensor>(runtime->allocate({DType::f32, {2}}).value());
  auto events = std::make_unique<EventStream>(runtime->events());
  auto context = std::make_unique<asio::io_context>();
  const auto message = numbered(1);
  other->async_call(Bytes(message), asio::bind_executor(*context, [](error_code, const Reply&) {}));
  events->async_next(asio::bind_executor(*context, [](error_code, const Event&) {}));
  {
    const Busy busy(kernel);
    for (int i = 0; i < 20; ++i)
      ASSERT_EQ(in_child([&] {
                  tensor.reset();
                  events.reset();
                  context.reset();
                  if (i % 2 != 0) *runtime = std::move(*static_runtime);
                  runtime.reset();
                  other.reset();
                  return 7;
                }),
                7);
  }
  EXPECT_TRUE(other->terminate());
  static_runtime.reset();
}

TEST_P(Fork, ANewRuntimeInTheChildWorks) {
  auto runtime = open();
  Kernel kernel = active(runtime, "a");
  const auto body = [&] {
    auto own = open_on("native");
    if (std::string_view(GetParam()) == "opencl") {
      // A driver's threads are the parent's, too.
      const auto refused = open_on("opencl");
      CHILD_EXPECT(refused.has_error() && refused.error() == Errc::backend_unavailable);
      CHILD_EXPECT(refused.error().detail.find("in use before fork") != std::string::npos);
      own = RingKernelRuntime::builder().build();
    }
    CHILD_EXPECT(own && own->metrics().backend == "native");
    CHILD_EXPECT(is_refused(kernel.call(numbered(1))));
    Kernel own_kernel = active(*own, "a");
    for (std::uint64_t i = 0; i < 100; ++i)
      CHILD_EXPECT(number_of(own_kernel.call(numbered(i)).value()) == i);
    CHILD_EXPECT(own_kernel.send(numbered(7)));
    CHILD_EXPECT(number_of(own_kernel.receive(20s).value()) == 7);
    // A fork of the fork.
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(is_refused(own_kernel.call(numbered(1))) ? 0 : 1);
    int status = 0;
    CHILD_EXPECT(waitpid(grandchild, &status, 0) == grandchild && status == 0);
    CHILD_EXPECT(own->shutdown());
    return 0;
  };
  const Busy busy(kernel);
  for (int i = 0; i < 5; ++i) ASSERT_EQ(in_child(body), 0);
}

}  // namespace
}  // namespace ringkernel::test
