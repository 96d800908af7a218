/// All that the device reads of a Reading, folded into one number in the order of readings.hpp.
#ifndef RK_TEST_READINGS_H
#define RK_TEST_READINGS_H

#include "sensor.rk.h"

#define FOLD_DEPTH_MAX 4u /* tables inside tables that are looked at */

RK_FN void fold(rk_u64* sum, rk_u64 value) { *sum = (*sum ^ value) * 0x100000001b3u; }

RK_FN void fold_f32(rk_u64* sum, rk_f32 value) {
  union {
    rk_f32 value;
    rk_u32 bits;
  } word;
  word.value = value;
  fold(sum, word.bits);
}

RK_FN void fold_f64(rk_u64* sum, rk_f64 value) {
  union {
    rk_f64 value;
    rk_u64 bits;
  } word;
  word.value = value;
  fold(sum, word.bits);
}

RK_FN void fold_bytes(rk_u64* sum, rk_const_bytes at, rk_u32 count) {
  fold(sum, count);
  for (rk_u32 i = 0; i < count; ++i) fold(sum, at[i]);
}

RK_FN void fold_frame(rk_u64* sum, RK_GLOBAL const Frame* frame) {
  fold(sum, frame->id);
  for (rk_u32 i = 0; i < 2; ++i) {
    fold_f64(sum, frame->corners[i].x);
    fold_f64(sum, frame->corners[i].y);
  }
  for (rk_u32 i = 0; i < 3; ++i) fold_f32(sum, frame->gains[i]);
  for (rk_u32 i = 0; i < 4; ++i) fold(sum, frame->marks[i]);
  fold(sum, frame->half_ != 0);
}

RK_FN void fold_part(rk_u64* sum, const PartView* part) {
  const rk_text label = Part_label(part);
  const rk_u8_span raw = Part_raw(part);
  RK_GLOBAL const units_Money* const price = Part_price(part);
  fold_bytes(sum, label.at, label.count);
  fold_f32(sum, Part_weight(part));
  fold_bytes(sum, raw.at, raw.count);
  fold(sum, price ? (rk_u64)price->cents : 0);
  fold(sum, price ? (rk_u64)price->unit : 0);
}

RK_FN void fold_vectors(rk_u64* sum, const ReadingView* reading) {
  const rk_f64_span samples = Reading_samples(reading);
  const QualitySpan qualities = Reading_qualities(reading);
  const FrameSpan frames = Reading_frames(reading);
  const rk_flat_list tags = Reading_tags(reading);
  const rk_flat_list parts = Reading_parts(reading);
  PartView part;
  for (rk_u32 i = 0; i < samples.count; ++i) fold_f64(sum, samples.at[i]);
  fold_bytes(sum, qualities.at, qualities.count);
  for (rk_u32 i = 0; i < frames.count; ++i) fold_frame(sum, &frames.at[i]);
  for (rk_u32 i = 0; i < tags.count; ++i) {
    const rk_text tag = Reading_tags_at(&tags, i);
    fold_bytes(sum, tag.at, tag.count);
  }
  for (rk_u32 i = 0; i < parts.count; ++i)
    if (Reading_parts_at(&parts, i, &part)) fold_part(sum, &part);
}

/// Without what `previous` names.
RK_FN void fold_one(rk_u64* sum, const ReadingView* reading) {
  const rk_text name = Reading_name(reading);
  RK_GLOBAL const Place* const at = Reading_at(reading);
  RK_GLOBAL const Frame* const frame = Reading_frame(reading);
  fold_bytes(sum, name.at, name.count);
  fold_f64(sum, Reading_value(reading));
  fold(sum, Reading_quality(reading));
  fold_f64(sum, at ? at->x : 0);
  fold_f64(sum, at ? at->y : 0);
  fold_vectors(sum, reading);
  if (frame) fold_frame(sum, frame);
  fold(sum, Reading_checked(reading));
  fold(sum, Reading_has_alarm(reading) ? Reading_alarm(reading) + 1u : 0);
  fold(sum, Reading_flags(reading));
  fold(sum, (rk_u64)Reading_open(reading));
  fold(sum, Reading_has_shift(reading) != 0);
  fold(sum, (rk_u64)Reading_shift(reading));
  fold(sum, (rk_u64)Reading_unit(reading));
  fold(sum, (rk_u64)Reading_low(reading));
  fold(sum, (rk_u64)Reading_tiny(reading));
}

RK_FN void fold_reading(rk_u64* sum, const ReadingView* first) {
  ReadingView reading = *first;
  for (rk_u32 depth = 0; depth <= FOLD_DEPTH_MAX; ++depth) {
    ReadingView previous;
    fold_one(sum, &reading);
    if (!Reading_previous(&reading, &previous)) return;
    reading = previous;
  }
}

#endif
