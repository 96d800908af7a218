/// What the handles of ringkernel.h stand for, and plain bytes of C callers.
///
/// Threading: any thread.
/// Errors: as ringkernel.h says them.
#pragma once

#include <cstdint>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "capi/guard.hpp"
#include "capi/handles.hpp"
#include "ringkernel/ringkernel.h"
#include "ringkernel/ringkernel.hpp"
#include "ringkernel/ringkernel_graph.h"

namespace ringkernel::capi {

struct KernelObject {
  std::shared_ptr<RingKernelRuntime> runtime;
  Kernel kernel;
  bool takes_ops = true;          // or bytes
  std::uint32_t reply_bytes = 0;  // room of a reply to plain bytes; 0: that of the message
  std::mutex mutex;
  std::deque<Reply> left;  // those that did not fit their receiver's buffer
};

/// A tensor on the device.
struct ResidentObject {
  std::shared_ptr<RingKernelRuntime> runtime;
  Tensor tensor;
};

struct FunctionObject {
  std::shared_ptr<RingKernelRuntime> runtime;
  CompiledFunction function;
};

/// What is called again and again: an op, or a function.
struct PreparedObject {
  std::shared_ptr<RingKernelRuntime> runtime;
  PreparedCall call;
  std::size_t input_count = 0;           // of the caller's
  std::vector<std::uint8_t> operands{};  // which of these go into the message, in its order
  std::vector<TensorDesc> results{};
};

using Runtimes = Handles<ringkernel_runtime, RingKernelRuntime>;
using Kernels = Handles<ringkernel_kernel, KernelObject>;
using Residents = Handles<ringkernel_resident, ResidentObject>;
using Functions = Handles<ringkernel_function, FunctionObject>;
using Prepareds = Handles<ringkernel_prepared, PreparedObject>;

inline Result<Bytes> read_message(const ringkernel_bytes* given) {
  if (given == nullptr) return null_argument("message");
  if (given->data == nullptr && given->data_bytes != 0) return null_argument("message->data");
  if (given->data_bytes > std::numeric_limits<std::ptrdiff_t>::max())
    return Error(Errc::message_too_large, std::to_string(given->data_bytes) + " bytes");
  return Bytes(static_cast<const std::byte*>(given->data), given->data_bytes);
}

/// The message of a method, borrowed from the caller.
inline Result<Message> read_method_message(const ringkernel_method* method,
                                           const ringkernel_bytes* request) {
  if (method == nullptr) return null_argument("method");
  RK_TRY(bytes, read_message(request));
  return Message{{.id = method->id, .reply_bytes = method->reply_bytes}, bytes};
}

/// Whether `what` finds room; how much it needs where it does not.
inline Result<void> check_room(ringkernel_bytes& room, std::uint64_t bytes,
                               const char* what = "reply") {
  if (room.data_bytes >= bytes && (bytes == 0 || room.data != nullptr)) return {};
  const std::uint64_t had = room.data == nullptr ? 0 : room.data_bytes;
  room.data_bytes = bytes;
  return Error(Errc::message_too_large, std::string("the ") + what + " has " +
                                            std::to_string(bytes) + " bytes; there is room for " +
                                            std::to_string(had));
}

/// There is room.
inline void copy_reply(Bytes bytes, ringkernel_bytes& reply) {
  reply.data_bytes = bytes.size();
  if (!bytes.empty()) std::memcpy(reply.data, bytes.data(), bytes.size());
}

inline Result<void> take(const Reply& reply, ringkernel_bytes& result) {
  RK_TRY_VOID(check_room(result, reply.bytes().size()));
  copy_reply(reply.bytes(), result);
  set_last_version(reply.version());
  return {};
}

enum class Kind : std::uint8_t { ops, bytes };

template <class Body>
ringkernel_status with_kernel(const ringkernel_kernel* handle, Body&& body) noexcept {
  return guarded([&]() -> Result<void> {
    RK_TRY(object, Kernels::table().find(handle, "kernel"));
    return body(*object);
  });
}

template <class Body>
ringkernel_status with_runtime(const ringkernel_runtime* handle, Body&& body) noexcept {
  return guarded([&]() -> Result<void> {
    RK_TRY(object, Runtimes::table().find(handle, "runtime"));
    return body(object);
  });
}

/// Of a kernel whose messages are of this kind.
template <class Body>
ringkernel_status with_kernel(const ringkernel_kernel* handle, Kind kind, Body&& body) noexcept {
  return with_kernel(handle, [&](KernelObject& object) -> Result<void> {
    if (object.takes_ops != (kind == Kind::ops))
      return Error(Errc::unsupported_operation, object.takes_ops
                                                    ? "the kernel's program takes ops, not bytes"
                                                    : "the kernel's program takes bytes, not ops");
    return body(object);
  });
}

}  // namespace ringkernel::capi
