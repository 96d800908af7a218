/// What is done while an allocation fails: each public function, and what has to be there for it.
#pragma once

#include <atomic>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringkernel/mind_runtime.hpp"
#include "ringkernel/ringkernel.hpp"
#include "stress/allocation/injection.hpp"

namespace ringkernel::test::allocation {

enum class Outcome : std::uint8_t {
  success,
  refused,  ///< E6004
  threw,    ///< std::bad_alloc
  wrong,    ///< another error, or a wrong answer; `World::complaint` says which
  lost,     ///< a handler that was not called, or twice
};

/// How an asynchronous operation ends: its handler runs on the thread that waits.
class Waiter {
 public:
  [[nodiscard]] auto token() {
    return boost::asio::bind_executor(io_, [this](error_code error, auto&&...) {
      ++calls_;
      error_ = error;
    });
  }
  /// The same with a Result.
  [[nodiscard]] auto result_token() {
    return as_result(boost::asio::bind_executor(io_, [this](const auto& result) {
      ++calls_;
      error_ = result ? error_code() : result.error().code;
    }));
  }
  /// False: it was not called, or more than once.
  [[nodiscard]] bool wait();
  [[nodiscard]] error_code error() const noexcept { return error_; }

 private:
  boost::asio::io_context io_;
  int calls_ = 0;
  error_code error_;
};

/// A runtime with what the cases need. Nothing fails while it is prepared or looked at.
struct World {
  std::string backend;
  std::optional<RingKernelRuntime> runtime;
  std::uint64_t free_bytes = 0;  ///< of the arena, with both programs and nothing else
  Kernel kernel;                 ///< "main", active
  Kernel echo;                   ///< active
  Tensor tensor;
  std::optional<Graph> graph;
  CompiledFunction function;
  std::optional<MindRuntime> mind;
  EventStream events;
  std::string complaint;

  /// Opens a runtime and builds both programs.
  void open();
  void open_bare();
  void launch_both();
  /// Everything of the runtime is given back, its ids can be used again, and it answers as ever.
  /// False: `complaint` says what is wrong.
  [[nodiscard]] bool is_sound();
  [[nodiscard]] bool closes();

  [[nodiscard]] Outcome complain(std::string_view text) {
    const injection::InDriver aside;
    complaint = text;
    return Outcome::wrong;
  }
  [[nodiscard]] Outcome of(const Error& error) {
    const injection::InDriver aside;
    return error == Errc::allocation_failure ? Outcome::refused : complain(error.text());
  }
  template <class T>
  [[nodiscard]] Outcome of(const Result<T>& result) {
    const injection::InDriver aside;  // what the test needs is not counted
    return result ? Outcome::success : of(result.error());
  }
  [[nodiscard]] Outcome of(Waiter& waiter) {
    if (!waiter.wait()) return Outcome::lost;
    return waiter.error() ? of(Error(waiter.error())) : Outcome::success;
  }
};

struct Case {
  const char* name;
  void (*prepare)(World& world);
  Outcome (*run)(World& world);
  injection::Scope scope = injection::Scope::thread;
  /// It has no Result, and says in its header that std::bad_alloc comes out; or it is the start of
  /// an asynchronous operation, whose handler is then not called.
  bool may_throw = false;
  /// The runtime is closed, and the next round begins with a new one.
  bool closes = false;
  /// In every run each allocation of it; on OpenCL not if `closes`, which takes long there.
  bool in_full = false;
  /// Not with a driver, where it takes long and nothing of it is another: what lies below has a
  /// case of its own.
  bool natively = false;
};
[[nodiscard]] constexpr Case natively(Case one) noexcept {
  one.natively = true;
  return one;
}

[[nodiscard]] RuntimeOptions runtime_options();
/// [1, 2, 3, 4], and whether a reply is its double.
[[nodiscard]] TensorView numbers() noexcept;
[[nodiscard]] bool is_double(std::span<const float> elements) noexcept;

[[nodiscard]] std::span<const Case> lifecycle_cases();
[[nodiscard]] std::span<const Case> message_cases();
[[nodiscard]] std::span<const Case> tensor_cases();
[[nodiscard]] std::span<const Case> program_cases();
[[nodiscard]] std::span<const Case> c_cases();
[[nodiscard]] std::span<const Case> c_program_cases();

}  // namespace ringkernel::test::allocation
