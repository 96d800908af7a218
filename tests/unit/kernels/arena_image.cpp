#include "unit/kernels/arena_image.hpp"

#include <algorithm>
#include <cstring>

#include "ring/consumer.hpp"
#include "ring/producer.hpp"
#include "unit/backend/executor_arena.hpp"

namespace ringkernel::test {

using ringkernel::testing::ExecutorArena;

static_assert(ArenaImage::executor_offset == ExecutorArena::executor_offset);

ArenaImage::ArenaImage(const ArenaSizes& sizes) {
  const std::uint64_t input_offset = ExecutorArena::bytes;
  const std::uint64_t output_offset = input_offset + ring_bytes(sizes.input_bytes);
  room_offset_ = output_offset + ring_bytes(sizes.output_bytes);
  lines_.resize((room_offset_ + sizes.room_bytes) / RK_LINE_BYTES);
  const ExecutorArena executor(bytes().data(), 1);
  kernel().state = RK_KERNEL_RUNNING;
  kernel().state_epoch = 1;
  kernel().input_capacity = static_cast<rk_u32>(sizes.input_bytes);
  kernel().output_capacity = static_cast<rk_u32>(sizes.output_bytes);
  kernel().input_ring = input_offset;
  kernel().output_ring = output_offset;
  host().kernel_count = 1;
  input().reset(sizes.position);
  output().reset(sizes.position);
  ring();
}

std::span<std::byte> ArenaImage::bytes() {
  return {lines_.front().bytes, lines_.size() * sizeof(Line)};
}

rk_executor_host_line& ArenaImage::host() { return at<rk_executor_host_line>(executor_offset); }
const rk_executor_device_line& ArenaImage::device() {
  return at<rk_executor_device_line>(host().device_line);
}
rk_kernel_host_line& ArenaImage::kernel() {
  return at<rk_kernel_host_line>(host().kernel_host_lines);
}
const rk_kernel_device_line& ArenaImage::kernel_device() {
  return at<rk_kernel_device_line>(host().kernel_device_lines);
}
const rk_telemetry_block& ArenaImage::telemetry() {
  return at<rk_telemetry_block>(host().telemetry_blocks);
}
RingView ArenaImage::input() {
  return RingView::at(bytes().data(), kernel().input_ring, kernel().input_capacity);
}
RingView ArenaImage::output() {
  return RingView::at(bytes().data(), kernel().output_ring, kernel().output_capacity);
}

bool ArenaImage::send(rk_record_header header, const std::function<void(std::byte*)>& fill) {
  Producer producer(input());
  rk_record_header* const record = producer.try_claim(header.payload_bytes);
  if (record == nullptr) return false;
  header.kind = RK_RECORD_REQUEST;
  *record = header;
  fill(reinterpret_cast<std::byte*>(record + 1));
  producer.commit();
  producer.publish();
  ring();
  return true;
}

bool ArenaImage::send(std::span<const std::byte> payload, std::uint64_t correlation_id) {
  rk_record_header header{};
  header.correlation_id = correlation_id;
  header.payload_bytes = header.reply_bytes = static_cast<rk_u32>(payload.size());
  return send(header, [&](std::byte* to) { std::ranges::copy(payload, to); });
}

void ArenaImage::ring() { ++at<rk_doorbell_line>(host().input_doorbells).epoch[0]; }

std::vector<RingReply> ArenaImage::take_replies() {
  std::vector<RingReply> replies;
  Consumer consumer(output());
  while (const rk_record_header* const record = consumer.front()) {
    const auto* const payload = reinterpret_cast<const std::byte*>(record + 1);
    replies.push_back({*record, {payload, payload + record->payload_bytes}});
    consumer.pop();
  }
  consumer.release();
  return replies;
}

}  // namespace ringkernel::test
