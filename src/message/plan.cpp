#include <cstring>

#include "foundation/memory_error.hpp"
#include "foundation/of_thread.hpp"
#include "message/skeleton.hpp"

namespace ringkernel::codec {
namespace {

/// Skeletons that a thread remembers, about a kilobyte each: a kind belongs to one set, which holds
/// several, so that two kinds in steady use rarely push each other out.
constexpr std::size_t sets_max = 64;
constexpr std::size_t set_skeletons_max = 4;

struct Set {
  std::array<std::unique_ptr<const Skeleton>, set_skeletons_max> skeletons;
  std::size_t oldest = 0;
};

struct Cache {
  std::array<Set, sets_max> sets;
  const Skeleton* last = nullptr;  // of the request before: often also of the next
};

/// Odd constants without structure; sums of products of small extents then fill the high bits.
constexpr std::array<std::uint64_t, rank_max> factors = {
    0x9e3779b97f4a7c15, 0xc2b2ae3d27d4eb4f, 0x165667b19e3779f9, 0x27d4eb2f165667c5,
    0x85ebca77c2b2ae63, 0xff51afd7ed558ccd, 0xc4ceb9fe1a85ec53, 0xd6e8feb86659fd93};

std::uint64_t weigh(const auto& value) noexcept {
  if constexpr (requires { value.size(); }) {
    std::uint64_t sum = value.size();
    std::size_t i = 0;
    for (const auto element : value) sum += static_cast<std::uint64_t>(element) * factors[i++];
    return sum;
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

std::uint64_t weigh(const IntList& list) noexcept { return weigh(list.values()); }

std::uint64_t weigh(const SliceRanges& ranges) noexcept {
  return weigh(ranges.starts) + weigh(ranges.ends) * factors[6] + weigh(ranges.steps) * factors[7];
}

std::size_t set_of(const Request& request) noexcept {
  std::uint64_t hash = static_cast<std::uint64_t>(request.op);
  for (std::size_t i = 0; i < request.input_count && i < inputs_max; ++i) {
    const TensorDesc& desc = request.inputs[i].desc;
    hash = hash * factors[0] + weigh(desc.shape.dims()) + static_cast<std::uint64_t>(desc.dtype);
  }
  std::size_t i = 0;
#define RK_ATTRIBUTE(kind, field, initial, text, rules) \
  hash += weigh(request.attributes.field) * factors[++i % factors.size()];
#include "ringkernel/protocol/attrs.def"
  return static_cast<std::size_t>((hash * factors[3]) >> 32) % sets_max;
}

bool same_kind(const Skeleton& skeleton, const Request& request) noexcept {
  const Request& kind = skeleton.kind;
  if (skeleton.plan.residents != residents_of(request)) return false;
  if (kind.op != request.op || kind.input_count != request.input_count) return false;
  for (std::size_t i = 0; i < kind.input_count; ++i) {
    const TensorView& view = request.inputs[i];
    if (view.data == nullptr && view.tensor == 0) return false;
    if (view.element_count != kind.inputs[i].element_count) return false;
    if (view.desc != kind.inputs[i].desc) return false;
  }
  return !skeleton.reads_attributes || kind.attributes == request.attributes;
}

/// All but the operands; `fill(i, gap)` is called for each of these, in order.
void encode_constant(const Plan& plan, std::byte* payload, auto fill) noexcept {
  const Skeleton& skeleton = *plan.skeleton;
  const std::byte* constant = skeleton.constant.data();
  std::uint32_t position = 0;
  for (std::size_t i = 0; i < skeleton.kind.input_count; ++i) {
    const Skeleton::Gap& gap = skeleton.gaps[i];
    std::memcpy(payload + position, constant, gap.offset - position);
    fill(i, gap);
    constant += gap.offset - position;
    position = gap.offset + gap.bytes;
  }
  std::memcpy(payload + position, constant, plan.payload_bytes - position);
}

}  // namespace

Result<Plan> plan(const Request& request) {
  Cache* const mine = of_thread<Cache>();
  if (mine == nullptr) [[unlikely]]
    return no_memory();
  Cache& cache = *mine;
  if (cache.last != nullptr && same_kind(*cache.last, request)) return cache.last->plan;
  Set& set = cache.sets[set_of(request)];
  for (const std::unique_ptr<const Skeleton>& skeleton : set.skeletons)
    if (skeleton && same_kind(*skeleton, request)) {
      cache.last = skeleton.get();
      return skeleton->plan;
    }
  RK_TRY(made, make_skeleton(request));
  std::unique_ptr<const Skeleton>& replaced = set.skeletons[set.oldest];
  set.oldest = (set.oldest + 1) % set_skeletons_max;
  replaced = std::move(made);
  cache.last = replaced.get();
  return replaced->plan;
}

void encode(const Plan& plan, const Request& request, std::byte* payload) noexcept {
  encode_constant(plan, payload, [&](std::size_t i, const Skeleton::Gap& gap) {
    if (gap.bytes != 0) std::memcpy(payload + gap.offset, request.inputs[i].data, gap.bytes);
  });
}

void encode(const Plan& plan, std::span<const Piece> pieces, std::byte* payload) noexcept {
  encode_constant(plan, payload, [](std::size_t, const Skeleton::Gap&) {});
  for (const Piece& piece : pieces) std::memcpy(payload + piece.offset, piece.data, piece.bytes);
}

void place(const Plan& plan, const Offsets& offsets, std::byte* payload) noexcept {
  std::byte* const command = payload + plan.command_offset;
  const auto write = [&](std::size_t operand, std::uint64_t offset) {
    std::memcpy(command + operand + offsetof(rk_operand, offset), &offset, sizeof offset);
  };
  for (std::size_t i = 0; i < inputs_max; ++i)
    if ((plan.residents & (1u << i)) != 0)
      write(offsetof(rk_command, inputs) + i * sizeof(rk_operand), offsets[i]);
  if ((plan.residents & result_bit) != 0) write(offsetof(rk_command, output), offsets[inputs_max]);
}

const TensorDesc& result_of(const Plan& plan) noexcept { return plan.skeleton->result; }

}  // namespace ringkernel::codec
