#include <cstring>
#include <string>

#include "message/codec.hpp"
#include "message/inspect.hpp"
#include "message/skeleton.hpp"

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

Result<TensorView> read_reply(std::span<const std::byte> payload, const Plan* plan) {
  if (plan != nullptr && payload.size() == plan->reply_bytes &&
      std::memcmp(payload.data(), plan->skeleton->reply_prefix.data(), plan->prefix_bytes) == 0)
    return TensorView(plan->skeleton->output, payload.data() + plan->prefix_bytes);
  RK_TRY(reply, verified_root<schema::Reply>(payload, *schema::ReplyTypeTable()));
  RK_TRY(desc, read_desc(*reply->output()));
  const std::size_t bytes = reply->data() == nullptr ? 0 : reply->data()->size();
  if (bytes != desc.bytes()) [[unlikely]]
    return malformed("the reply is " + desc.text() + " but carries " + std::to_string(bytes) +
                     " bytes");
  return TensorView(desc, bytes == 0 ? nullptr : reply->data()->data());
}

}  // namespace ringkernel::codec
