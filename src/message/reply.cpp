#include <cstring>
#include <limits>
#include <string>

#include "message/codec.hpp"
#include "message/inspect.hpp"
#include "message/skeleton.hpp"
#include "ops/rules.hpp"

namespace ringkernel::codec {
namespace {

Error malformed(const std::string& what) { return Error(Errc::malformed_message, what); }

Result<TensorDesc> read_desc(const schema::TensorInfo& info) {
  TensorDesc desc{static_cast<DType>(info.dtype()), {}};
  if (info.dtype() > RK_DTYPE_I64 || info.rank() > rank_max || info.reserved() != 0) [[unlikely]]
    return malformed("the reply has element type " + std::to_string(info.dtype()) + " and rank " +
                     std::to_string(info.rank()));
  std::array<std::int64_t, rank_max> dims{};
  for (std::uint32_t dim = 0; dim < info.rank(); ++dim) dims[dim] = info.dims()->Get(dim);
  auto shape = Shape::make(std::span<const std::int64_t>(dims).first(info.rank()));
  if (!shape) [[unlikely]]
    return malformed(shape.error().detail);
  desc.shape = *shape;
  return desc;
}

}  // namespace

bool is_reply_to(const Plan& plan, std::span<const std::byte> payload) noexcept {
  return payload.size() == plan.reply_bytes &&
         std::memcmp(payload.data(), plan.skeleton->reply_prefix.data(), plan.prefix_bytes) == 0;
}

const TensorDesc& reply_of(const Plan& plan) noexcept { return plan.skeleton->output; }

Result<TensorView> read_reply(std::span<const std::byte> payload) {
  RK_TRY(reply, verified_root<schema::Reply>(payload, *schema::ReplyTypeTable()));
  RK_TRY(desc, read_desc(*reply->output()));
  const std::size_t bytes = reply->data() == nullptr ? 0 : reply->data()->size();
  if (bytes != desc.bytes()) [[unlikely]]
    return malformed("the reply is " + desc.text() + " but carries " + std::to_string(bytes) +
                     " bytes");
  return TensorView(desc, bytes == 0 ? nullptr : reply->data()->data());
}

Error fault_error(Errc fault, std::uint64_t detail, const Request* request) {
  if (fault != Errc::index_out_of_bounds)
    return Error(fault, "device detail " + std::to_string(detail));
  using Limits = std::numeric_limits<std::int32_t>;
  const auto index = static_cast<std::int32_t>(detail & 0xffffffffu);
  const bool is_cut = index == Limits::min() || index == Limits::max();
  const std::string what = "index " + std::to_string(index) + (is_cut ? " or beyond" : "") +
                           " at position " + std::to_string(detail >> 32);
  const OpInfo* const op =
      request == nullptr ? nullptr : find_op(static_cast<std::uint16_t>(request->op));
  if (op == nullptr) return Error(Errc::out_of_bounds, what);
  std::array<TensorDesc, inputs_max> descs;
  for (std::size_t i = 0; i < request->input_count; ++i) descs[i] = request->inputs[i].desc;
  return ops::call_error(Errc::out_of_bounds,
                         {*op, std::span(descs).first(request->input_count), request->attributes},
                         what);
}

}  // namespace ringkernel::codec
