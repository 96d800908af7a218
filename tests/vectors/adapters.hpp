/// One function per ONNX op that says it with ops of ours: operands in our layouts, defaults and
/// negative numbers spelled out, several ops where ours does less at once.
///
/// Threading: distinct sessions safe, shared ones unsafe.
/// Errors: `NotExpressible` is thrown for a vector that no sequence of our ops computes;
/// boost::system::system_error for what the kernel refuses.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ringkernel/ringkernel.hpp"
#include "vectors/onnx.hpp"

namespace ringkernel::test::onnx {

struct NotExpressible {
  std::string reason;
};

/// Runs ops on a kernel, and remembers whether a vector took more than one op with the operands and
/// attributes as they are.
class Session {
 public:
  explicit Session(Kernel kernel) : kernel_(std::move(kernel)) {}

  [[nodiscard]] Tensor run(const Request& request);
  /// To be said where something is changed; several ops are noticed.
  void adapt() { is_adapted_ = true; }
  [[nodiscard]] bool is_direct() const { return !is_adapted_ && runs_ <= 1; }

 private:
  Kernel kernel_;
  int runs_ = 0;
  bool is_adapted_ = false;
};

using Inputs = std::span<const Tensor>;
using Adapter = Tensor (*)(Session& session, const Node& node, Inputs inputs);

/// nullptr if the op has none.
[[nodiscard]] Adapter find_adapter(std::string_view op);

/// The operand; NotExpressible if it has an extent 0, or elements of a type that we do not have.
[[nodiscard]] TensorView view(const Tensor& tensor);

// Those that move elements, in adapters_moving.cpp; the rest is in adapters.cpp.
Tensor adapt_expand(Session& session, const Node& node, Inputs inputs);
Tensor adapt_gather(Session& session, const Node& node, Inputs inputs);
Tensor adapt_reshape(Session& session, const Node& node, Inputs inputs);
Tensor adapt_slice(Session& session, const Node& node, Inputs inputs);
Tensor adapt_squeeze(Session& session, const Node& node, Inputs inputs);
Tensor adapt_transpose(Session& session, const Node& node, Inputs inputs);
Tensor adapt_unsqueeze(Session& session, const Node& node, Inputs inputs);

/// The list that newer versions of an op take as an input and older ones as an attribute.
[[nodiscard]] std::vector<std::int64_t> list_of(const Node& node, Inputs inputs,
                                                std::size_t position, std::string_view name);

}  // namespace ringkernel::test::onnx
