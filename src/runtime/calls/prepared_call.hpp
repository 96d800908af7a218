/// A request of one kind, laid out, with the place of its result.
///
/// Threading: one thread at a time; another one's call is answered busy.
/// Memory ordering: in_use_ is taken with an acquire and given back with a release.
/// Ownership: shares the kernel's state; `owner` keeps what it was laid out from.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "bridge/channel/pending.hpp"
#include "message/codec.hpp"
#include "ringkernel/prepared_call.hpp"
#include "runtime/edge.hpp"

namespace ringkernel::detail {

class PreparedState {
 public:
  /// What a call of this kind takes and gives.
  struct Layout {
    std::string name;  ///< for errors
    codec::Plan plan;
    struct Operand {
      TensorDesc desc;
      std::uint64_t offset = 0;  ///< in the payload
    };
    std::vector<Operand> operands;  ///< those in the message
    std::vector<ResultPart> results;
  };

  PreparedState(std::shared_ptr<KernelState> kernel, std::shared_ptr<const void> owner,
                Layout layout);
  PreparedState(const PreparedState&) = delete;
  PreparedState& operator=(const PreparedState&) = delete;
  ~PreparedState() = default;

  [[nodiscard]] static Result<std::unique_ptr<PreparedState>> of(
      std::shared_ptr<KernelState> kernel, const Request& request);

  [[nodiscard]] const std::shared_ptr<KernelState>& kernel() const noexcept { return kernel_; }

  [[nodiscard]] Result<ResultView> call(std::span<const Elements> operands,
                                        const SendOptions& options);
  Result<void> call_into(std::span<const ElementsOut> results, std::span<const Elements> operands,
                         const SendOptions& options);
  [[nodiscard]] Result<bool> try_call_into(std::span<const ElementsOut> results,
                                           std::span<const Elements> operands,
                                           std::chrono::nanoseconds longest);

 private:
  /// What `call` gives, or busy if another call is under way.
  template <class Call>
  [[nodiscard]] auto alone(Call&& call) -> decltype(call());
  Result<void> put_into(std::span<const ElementsOut> results, std::span<const Elements> operands,
                        const SendOptions& options);
  Result<void> exchange(std::span<const Elements> operands,
                        std::span<const bridge::ReplyPlace::Part> parts,
                        const SendOptions& options);
  /// "'add' was prepared for `prepared`; the call gives `given`".
  [[nodiscard]] Error mismatch(Errc code, const std::string& prepared,
                               const std::string& given) const;
  /// Of elements that are not like `expected`, those of `what`.
  [[nodiscard]] Error mismatch(const std::string& what, const TensorDesc& expected, DType dtype,
                               std::uint64_t count) const;

  const std::shared_ptr<KernelState> kernel_;
  const std::shared_ptr<const void> owner_;
  const Layout layout_;
  std::vector<codec::Piece> pieces_;
  PreparedMessage prepared_;  // borrows the pieces
  MessageBuffer result_;
  const bridge::ReplyPlace::Part in_place_;  // all of it
  std::vector<bridge::ReplyPlace::Part> given_places_;
  bridge::ReplyPlace reply_place_;
  std::atomic<bool> in_use_{false};
  // Whose turn it is writes these.
  std::uint32_t tries_ = 0;
  std::uint32_t long_pause_ = 0;  // calls until it is tried here again
};

}  // namespace ringkernel::detail
