/// Programs of your own: what a runtime is told of them, and what it knows then (docs/PROGRAMS.md).
///
///     runtime.add_program({.name = "trading",
///                          .source = ringkernel::Source::file("book.rk.cl"),
///                          .schema = ringkernel::Schema::file("trading.bfbs")});
///
/// A program is trusted code: it runs in this process, or in the device's driver. What it is sent
/// is not trusted.
///
/// Threading: plain values.
/// Errors: files are read by `add_program`, which says what it could not read.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Whether programs are guarded that do not say so themselves (ProgramDesc::guard).
#if !defined(RK_GUARD_BY_DEFAULT)
#if defined(NDEBUG)
#define RK_GUARD_BY_DEFAULT false
#else
#define RK_GUARD_BY_DEFAULT true
#endif
#endif

struct rk_compiled_program;

namespace ringkernel {

/// The handlers of a program, in OpenCL C or in what C, C++ and OpenCL C share.
class Source {
 public:
  Source() = default;
  /// The file is read when a program is added.
  [[nodiscard]] static Source file(std::string path) { return {std::move(path), {}, true}; }
  /// `name` is what compilers call it: "book.rk.cl".
  [[nodiscard]] static Source text(std::string name, std::string text) {
    return {std::move(name), std::move(text), false};
  }

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const std::string& content() const noexcept { return content_; }
  [[nodiscard]] bool is_file() const noexcept { return is_file_; }
  [[nodiscard]] bool is_empty() const noexcept { return name_.empty() && content_.empty(); }

 private:
  Source(std::string name, std::string content, bool is_file)
      : name_(std::move(name)), content_(std::move(content)), is_file_(is_file) {}

  std::string name_;
  std::string content_;
  bool is_file_ = false;
};

/// The interface of a program: a binary FlatBuffers schema, as `flatc -b --schema` makes it of its
/// text. Its services are the behaviours, their methods the messages.
class Schema {
 public:
  Schema() = default;
  /// The file is read when a program is added.
  [[nodiscard]] static Schema file(std::string path) { return {Source::file(std::move(path)), {}}; }
  /// `name` is what errors call it: "trading.fbs". `text`, what it was made of, gives them lines.
  [[nodiscard]] static Schema binary(std::string name, std::string bytes, std::string text = {}) {
    return {Source::text(std::move(name), std::move(bytes)), std::move(text)};
  }

  [[nodiscard]] const Source& source() const noexcept { return source_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  Schema(Source source, std::string text) : source_(std::move(source)), text_(std::move(text)) {}

  Source source_;
  std::string text_;
};

/// A program of your own, as it is added.
struct ProgramDesc {
  std::string name;  ///< an identifier
  Source source = {};
  /// Files that the source may include, by the names that these have without their folders. Where
  /// it takes another's place and names none: those that the other one included.
  std::vector<Source> headers = {};
  Schema schema = {};  ///< without one, messages are plain bytes for the handler RK_ON_BYTES
  /// Without a schema: the state of each ring kernel, and the room of a reply; 0: that of the
  /// request.
  std::uint32_t state_bytes = 0;
  std::uint32_t reply_bytes = 0;
  /// Builds for this processor's kind that are part of the executable, so that no compiler is
  /// needed natively; null: none. Made by `ringkernel_add_program` of CMake alone
  /// (ringkernel/backend_abi.h). Not used where they are builds of other texts than these, as after
  /// `source` was changed.
  const rk_compiled_program* compiled = nullptr;
  /// Whether what lies around reply and state is looked at behind each message. A handler that
  /// wrote there gets no reply sent: its message is program_overran, and its kernel has failed.
  /// Costs some hundred bytes of writing and reading for each message; where it is false, nothing.
  bool guard = RK_GUARD_BY_DEFAULT;
};

/// A method as the schema has it. `id` is what a message carries.
struct MethodInfo {
  std::string name;
  std::string request;  ///< its table's full name, as is `reply`
  std::string reply;
  std::uint32_t id = 0;
  std::uint32_t reply_bytes = 0;
};

/// A kind of actor: a service of the schema.
struct BehaviourInfo {
  std::string name;
  std::string state;  ///< the struct's name; empty: it has none
  std::uint32_t state_bytes = 0;
  std::uint32_t state_version = 0;
  std::vector<MethodInfo> methods;
};

/// What one ring kernel understands.
struct KernelInterface {
  Schema schema;          ///< binary
  std::string behaviour;  ///< its full name in the schema
};

/// A program as the runtime knows it.
struct ProgramInfo {
  std::string name;
  std::uint32_t version = 1;              ///< 1 more for each swap
  bool takes_ops = false;                 ///< its messages are requests of ops, as those of `core`
  std::uint32_t reply_bytes = 0;          ///< as ProgramDesc has it
  std::vector<BehaviourInfo> behaviours;  ///< empty without a schema
  std::string header;  ///< generated of the schema, for editors; empty without one
};

/// How a program took another one's place.
struct SwapInfo {
  std::uint32_t version = 0;  ///< of the program now; its replies say so
  /// How long at most messages waited for it. The build is no part of that.
  std::chrono::nanoseconds pause{0};
  std::size_t migrated = 0;  ///< kernels whose states were made anew, or are new
};

}  // namespace ringkernel
