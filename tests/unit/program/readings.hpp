/// Readings as a host builds them, and what flatc's accessors read of them, as one number.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "sensor_generated.h"
#include "unit/program/mutations.hpp"

namespace ringkernel::program::test {

using Bytes = std::vector<std::uint8_t>;

inline Bytes bytes_of(const flatbuffers::FlatBufferBuilder& builder) {
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

inline plant::Frame make_frame(std::uint16_t id) { return {id, false}; }

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

/// All values that were read, folded into one number as readings.h folds them.
struct Seen {
  template <class T>
  void add(T value) {
    if constexpr (std::same_as<T, float>)
      fold(std::bit_cast<std::uint32_t>(value));
    else if constexpr (std::same_as<T, double>)
      fold(std::bit_cast<std::uint64_t>(value));
    else
      fold(static_cast<std::uint64_t>(value));
  }
  template <class Byte>
  void add(const Byte* bytes, std::size_t count) {
    fold(count);
    for (std::size_t i = 0; i < count; ++i) fold(static_cast<std::uint8_t>(bytes[i]));
  }
  void fold(std::uint64_t value) { sum = (sum ^ value) * 0x100000001b3; }
  bool operator==(const Seen&) const = default;

  std::uint64_t sum = 0;
};

inline constexpr unsigned depth_max = 4;  // tables inside tables that are looked at

inline void see(Seen& seen, const flatbuffers::String* text) {
  seen.add(text ? text->c_str() : nullptr, text ? text->size() : 0u);
}

inline void see(Seen& seen, const plant::Frame& frame) {
  seen.add(frame.id());
  for (unsigned i = 0; i < 2; ++i) {
    seen.add(frame.corners()->Get(i)->x());
    seen.add(frame.corners()->Get(i)->y());
  }
  for (const float gain : *frame.gains()) seen.add(gain);
  for (const plant::Quality mark : *frame.marks()) seen.add(mark);
  seen.add(frame.half());
}

inline void see(Seen& seen, const plant::Part* part) {
  see(seen, part->label());
  seen.add(part->weight());
  seen.add(part->raw() ? part->raw()->data() : nullptr, part->raw() ? part->raw()->size() : 0u);
  seen.add(part->price() ? part->price()->cents() : 0);
  seen.add(part->price() ? part->price()->unit() : units::Unit::None);
}

inline void see_vectors(Seen& seen, const plant::Reading* reading) {
  if (reading->samples() != nullptr)
    for (const double sample : *reading->samples()) seen.add(sample);
  const auto* const qualities = reading->qualities();
  seen.add(qualities ? qualities->data() : nullptr, qualities ? qualities->size() : 0u);
  if (reading->frames() != nullptr)
    for (const plant::Frame* frame : *reading->frames()) see(seen, *frame);
  if (reading->tags() != nullptr)
    for (const flatbuffers::String* tag : *reading->tags()) see(seen, tag);
  if (reading->parts() != nullptr)
    for (const plant::Part* part : *reading->parts()) see(seen, part);
}

inline void see(Seen& seen, const plant::Reading* reading, unsigned depth = 0) {
  see(seen, reading->name());
  seen.add(reading->value());
  seen.add(reading->quality());
  seen.add(reading->at() ? reading->at()->x() : 0);
  seen.add(reading->at() ? reading->at()->y() : 0);
  see_vectors(seen, reading);
  if (reading->frame() != nullptr) see(seen, *reading->frame());
  seen.add(reading->checked());
  seen.add(reading->alarm().has_value() ? *reading->alarm() + 1 : 0);
  seen.add(reading->flags());
  seen.add(reading->open());
  seen.add(reading->shift().has_value());
  seen.add(reading->shift().value_or(0));
  seen.add(reading->unit());
  seen.add(reading->low());
  seen.add(reading->tiny());
  if (reading->previous() != nullptr && depth < depth_max)
    see(seen, reading->previous(), depth + 1);
}

/// What the device refuses, and the verifier of FlatBuffers lets pass: vectors of 8-byte elements
/// that are not aligned, and elements whose offset is zero, which would lie in their vector.
inline bool is_odd(const plant::Reading* reading) {
  const auto off = [](const auto* vector) {
    return vector != nullptr && vector->size() != 0 &&
           reinterpret_cast<std::uintptr_t>(vector->Data()) % 8 != 0;
  };
  const auto has_zero = [](const auto* vector) {
    for (std::uint32_t i = 0; vector != nullptr && i < vector->size(); ++i)
      if (flatbuffers::ReadScalar<std::uint32_t>(vector->Data() + 4 * i) == 0) return true;
    return false;
  };
  for (; reading != nullptr; reading = reading->previous()) {
    if (off(reading->samples()) || off(reading->frames())) return true;
    if (has_zero(reading->parts()) || has_zero(reading->tags())) return true;
  }
  return false;
}

}  // namespace ringkernel::program::test
