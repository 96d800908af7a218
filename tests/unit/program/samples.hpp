/// Requests as a host builds them.
#pragma once

#include <string>
#include <vector>

#include "sensor_generated.h"
#include "trading_generated.h"
#include "unit/program/mutations.hpp"

namespace ringkernel::program::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes bytes_of(const flatbuffers::FlatBufferBuilder& builder) {
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

inline Bytes make_order(Mutator& random) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<trading::Leg> legs;
  for (std::uint32_t i = random.below(6); i != 0; --i)
    legs.emplace_back(0.5f * static_cast<float>(i), random.below(100));
  const auto vector = builder.CreateVectorOfStructs(legs);
  trading::OrderBuilder order(builder);
  order.add_id(random.below(1000));
  order.add_price(12.5f);
  order.add_qty(random.below(4));
  order.add_side(trading::Side::Sell);
  if (random.below(3) != 0) order.add_legs(vector);
  if (random.below(2) != 0) order.add_limit(99.5f);
  builder.Finish(order.Finish());
  return bytes_of(builder);
}

inline plant::Frame make_frame(std::uint16_t id) {
  plant::Frame frame;
  frame.mutate_id(id);
  return frame;
}

inline flatbuffers::Offset<plant::Part> make_part(flatbuffers::FlatBufferBuilder& builder,
                                                  Mutator& random) {
  const units::Money price(random.below(1000), units::Unit::Kelvin);
  const auto label = builder.CreateString("part");
  const std::uint8_t raw[] = {1, 2, 3};
  const auto bytes = builder.CreateVector(raw, 3);
  plant::PartBuilder part(builder);
  if (random.below(2) != 0) part.add_label(label);
  if (random.below(2) != 0) part.add_weight(1.5f);
  if (random.below(2) != 0) part.add_raw(bytes);
  if (random.below(2) != 0) part.add_price(&price);
  return part.Finish();
}

inline flatbuffers::Offset<plant::Reading> make_reading(flatbuffers::FlatBufferBuilder& builder,
                                                        Mutator& random, int depth) {
  const auto chance = [&] { return random.below(3) != 0; };
  flatbuffers::Offset<plant::Reading> previous;
  if (depth != 0) previous = make_reading(builder, random, depth - 1);
  std::vector<flatbuffers::Offset<plant::Part>> parts;
  for (std::uint32_t i = random.below(3); i != 0; --i) parts.push_back(make_part(builder, random));
  const auto name = builder.CreateString(std::string(random.below(20), 'n'));
  const auto samples = builder.CreateVector(std::vector<double>(random.below(5), 2.25));
  const auto qualities = builder.CreateVector(std::vector<plant::Quality>(3, plant::Quality::Bad));
  const auto tags = builder.CreateVectorOfStrings(std::vector<std::string>{"a", "", "ccc"});
  const auto part_list = builder.CreateVector(parts);
  const std::vector<plant::Frame> frames{make_frame(1), make_frame(2)};
  const auto frame_list = builder.CreateVectorOfStructs(frames);
  const plant::Place at(1.5, random.below(10));
  plant::ReadingBuilder reading(builder);
  reading.add_name(name);
  if (chance()) reading.add_value(7.5);
  if (chance()) reading.add_at(&at);
  if (chance()) reading.add_samples(samples);
  if (chance()) reading.add_qualities(qualities);
  if (chance()) reading.add_tags(tags);
  if (chance()) reading.add_parts(part_list);
  if (depth != 0) reading.add_previous(previous);
  if (chance()) reading.add_frame(&frames[0]);
  if (chance()) reading.add_frames(frame_list);
  if (chance()) reading.add_checked(false);
  if (chance()) reading.add_alarm(random.below(2) != 0);
  if (chance()) reading.add_flags(plant::Flags::Wet);
  if (chance()) reading.add_open(4);
  if (chance()) reading.add_shift(-5);
  if (chance()) reading.add_unit(units::Unit::Kelvin);
  if (chance()) reading.add_low(-4);
  if (chance()) reading.add_tiny(-1);
  return reading.Finish();
}

inline Bytes make_reading(Mutator& random) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(make_reading(builder, random, static_cast<int>(random.below(3))));
  return bytes_of(builder);
}

}  // namespace ringkernel::program::test
