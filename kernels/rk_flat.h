/// Tables of FlatBuffers on the device: reading with every bound checked, and what replies of fixed
/// layout need. The header that is generated from a schema (src/program/) is written in it.
///
/// A *view* is a table that has been opened: its vtable is known to lie in the message. A read that
/// would leave the message, or is misaligned, reads as if the field were absent, and sets
/// `self->malformed`; then the message ends as malformed, whatever its handler returns. Fields of
/// a view that did not open are absent.
///
/// Reads as OpenCL C 3.0 and 1.2, C11 and C++20.
#ifndef RINGKERNEL_RK_FLAT_H
#define RINGKERNEL_RK_FLAT_H

#include "rk_actor.h"

/// `RK_ON(Book, Submit) { ... return RK_OK; }` handles a method of the schema. Its parameters are
/// `self`, `state`, `request` and `reply`.
#define RK_ON(BEHAVIOUR, METHOD) RK_ON_##BEHAVIOUR##_##METHOD

/// `RK_MIGRATE(Book) { ... return RK_OK; }` makes a state of the struct that its attribute
/// `migrates` names. Its parameters are `self`, `was`, the old state, and `state`, all zero.
#define RK_MIGRATE(BEHAVIOUR) RK_MIGRATE_##BEHAVIOUR

#define RK_UNUSED __attribute__((unused))

#define RK_FLAT_INFINITY RK_INFINITY
#if defined(__OPENCL_C_VERSION__)
#define RK_FLAT_NAN NAN
#else
#define RK_FLAT_NAN __builtin_nanf("")
#endif

/// What the schema says of a layout, beside the type that has it.
#define RK_FLAT_BYTES(TYPE, BYTES) \
  RK_STATIC_ASSERT(sizeof(TYPE) == (BYTES), #TYPE " has not the schema's size")
#define RK_FLAT_PLACE(TYPE, MEMBER, AT)               \
  RK_STATIC_ASSERT(RK_OFFSETOF(TYPE, MEMBER) == (AT), \
                   #TYPE "." #MEMBER " is not where the schema has it")

/// A table of the message in hand. All positions are bytes from its start.
typedef struct rk_flat {
  rk_self* self;
  rk_const_bytes base;
  rk_u32 end;          /* bytes of the message */
  rk_u32 table;        /* 0: it did not open */
  rk_u32 vtable;       /* inside the message, all vtable_bytes of it */
  rk_u32 vtable_bytes; /* 0: every field is absent */
} rk_flat;

/// A string: bytes without a promise that they are UTF-8, or that a zero ends them.
typedef struct rk_text {
  rk_const_bytes at;
  rk_u32 count;
} rk_text;

/// A vector of tables or of strings.
typedef struct rk_flat_list {
  rk_flat flat;
  rk_u32 first; /* position of the first offset */
  rk_u32 count;
} rk_flat_list;

/// Notes that the message could not be read. 0, which stands for absent.
RK_FN rk_u32 rk_flat_malformed(const rk_flat* flat) {
  flat->self->malformed = 1;
  return 0;
}

#if defined(__OPENCL_C_VERSION__)
#define RK_FLAT_LOAD(TYPE, from) return *(RK_GLOBAL const TYPE*)(from)
#else
#define RK_FLAT_LOAD(TYPE, from)                  \
  TYPE value;                                     \
  __builtin_memcpy(&value, (from), sizeof value); \
  return value
#endif

RK_FN rk_u16 rk_flat_load_u16(rk_const_bytes from) { RK_FLAT_LOAD(rk_u16, from); }
RK_FN rk_u32 rk_flat_load_u32(rk_const_bytes from) { RK_FLAT_LOAD(rk_u32, from); }

/// The position of a field of `bytes` bytes that `slot`, its place in the vtable, names; or 0.
RK_FN rk_u32 rk_flat_field(const rk_flat* flat, rk_u32 slot, rk_u32 bytes, rk_u32 align) {
  const rk_u32 rest = flat->end - flat->table;
  rk_u32 place;
  if (slot + 2u > flat->vtable_bytes) return 0;
  place = rk_flat_load_u16(flat->base + flat->vtable + slot);
  if (place == 0) return 0;
  if (place > rest || bytes > rest - place) return rk_flat_malformed(flat);
  if (((flat->table + place) & (align - 1u)) != 0) return rk_flat_malformed(flat);
  return flat->table + place;
}

/// A required field that is absent makes the message malformed.
RK_FN void rk_flat_require(const rk_flat* flat, rk_u32 slot) {
  if (flat->table == 0) return;
  if (slot + 2u <= flat->vtable_bytes)
    if (rk_flat_load_u16(flat->base + flat->vtable + slot) != 0) return;
  (void)rk_flat_malformed(flat);
}

/// The position that the offset stored at `at` names: at least four bytes lie there; or 0.
RK_FN rk_u32 rk_flat_follow(const rk_flat* flat, rk_u32 at) {
  const rk_u32 offset = rk_flat_load_u32(flat->base + at);
  const rk_u32 rest = flat->end - at;
  if (offset == 0 || offset > rest || rest - offset < 4u) return rk_flat_malformed(flat);
  if (((at + offset) & 3u) != 0) return rk_flat_malformed(flat);
  return at + offset;
}

/// The position of the first element of the vector that the offset stored at `at` names, and how
/// many there are; or 0 and none.
RK_FN rk_u32 rk_flat_vector_at(const rk_flat* flat, rk_u32 at, rk_u32 bytes, rk_u32 align,
                               rk_u32* count) {
  const rk_u32 vector = rk_flat_follow(flat, at);
  rk_u32 elements;
  *count = 0;
  if (vector == 0) return 0;
  elements = rk_flat_load_u32(flat->base + vector);
  if (elements > (flat->end - vector - 4u) / bytes) return rk_flat_malformed(flat);
  if (elements == 0) return 0;  // builders do not align an empty vector
  if (((vector + 4u) & (align - 1u)) != 0) return rk_flat_malformed(flat);
  *count = elements;
  return vector + 4u;
}

/// The same of a field. An absent vector is an empty one, and lies at the start of the message.
RK_FN rk_const_bytes rk_flat_vector(const rk_flat* flat, rk_u32 slot, rk_u32 bytes, rk_u32 align,
                                    rk_u32* count) {
  const rk_u32 at = rk_flat_field(flat, slot, 4, 4);
  *count = 0;
  return flat->base + (at != 0 ? rk_flat_vector_at(flat, at, bytes, align, count) : 0u);
}

RK_FN rk_text rk_flat_text(const rk_flat* flat, rk_u32 slot) {
  rk_text text;
  text.at = rk_flat_vector(flat, slot, 1, 1, &text.count);
  return text;
}

/// Of `T_x(view)`: a struct in its table, or 0.
RK_FN rk_const_bytes rk_flat_struct(const rk_flat* flat, rk_u32 slot, rk_u32 bytes, rk_u32 align) {
  const rk_u32 at = rk_flat_field(flat, slot, bytes, align);
  return at != 0 ? flat->base + at : 0;
}

/// Opens the table at `table`, of the message that `from` is of. 1; or 0, and a view without
/// fields. 0 stands for absent.
RK_FN rk_u32 rk_flat_open_at(const rk_flat* from, rk_u32 table, rk_flat* out) {
  rk_u64 vtable;
  rk_u32 bytes;
  out->self = from->self;
  out->base = from->base;
  out->end = from->end;
  out->table = 0;
  out->vtable = 0;
  out->vtable_bytes = 0;
  if (table == 0) return 0;
  vtable = (rk_u64)table - (rk_u64)(rk_i64)(rk_i32)rk_flat_load_u32(out->base + table);
  if (vtable > out->end || out->end - vtable < 2u) return rk_flat_malformed(out);
  if ((vtable & 1u) != 0) return rk_flat_malformed(out);
  bytes = rk_flat_load_u16(out->base + vtable);
  if ((bytes & 1u) != 0 || bytes > out->end - vtable) return rk_flat_malformed(out);
  out->table = table;
  out->vtable = (rk_u32)vtable;
  out->vtable_bytes = bytes;
  return 1;
}

/// Opens the message's root.
RK_FN rk_u32 rk_flat_open(rk_self* self, rk_flat* out) {
  rk_flat message;
  message.self = self;
  message.base = self->payload;
  message.end = self->payload_bytes;
  message.table = 0;
  message.vtable = 0;
  message.vtable_bytes = 0;
  *out = message;
  if (message.end < 8u) return rk_flat_malformed(&message);
  return rk_flat_open_at(&message, rk_flat_follow(&message, 0), out);
}

/// Of `T_x(view, &out)`: a table of a table.
RK_FN rk_u32 rk_flat_table(const rk_flat* flat, rk_u32 slot, rk_flat* out) {
  const rk_u32 at = rk_flat_field(flat, slot, 4, 4);
  return rk_flat_open_at(flat, at != 0 ? rk_flat_follow(flat, at) : 0u, out);
}

/// Of `T_x(view)`: a vector of tables or of strings.
RK_FN rk_flat_list rk_flat_list_of(const rk_flat* flat, rk_u32 slot) {
  const rk_u32 at = rk_flat_field(flat, slot, 4, 4);
  rk_flat_list list;
  list.flat = *flat;
  list.count = 0;
  list.first = at != 0 ? rk_flat_vector_at(flat, at, 4, 4, &list.count) : 0u;
  return list;
}

/// Of `T_x_at(&list, index, &out)`: 0, and a view without fields, where there is no such element.
RK_FN rk_u32 rk_flat_table_at(const rk_flat_list* list, rk_u32 index, rk_flat* out) {
  const rk_flat* const flat = &list->flat;
  const rk_u32 there = index < list->count;
  return rk_flat_open_at(flat, there ? rk_flat_follow(flat, list->first + 4u * index) : 0u, out);
}

/// Of `T_x_at(&list, index)`: empty where there is no such element.
RK_FN rk_text rk_flat_text_at(const rk_flat_list* list, rk_u32 index) {
  const rk_flat* const flat = &list->flat;
  rk_u32 at = 0;
  rk_text text;
  text.count = 0;
  if (index < list->count)
    at = rk_flat_vector_at(flat, list->first + 4u * index, 1, 1, &text.count);
  text.at = flat->base + at;
  return text;
}

/// For one type of number: rk_flat_u32 reads a field, `absent` where it is not there; an
/// rk_u32_span is a vector that was checked once, by rk_flat_u32_span.
#define RK_FLAT_NUMBER(NAME)                                                                     \
  typedef struct rk_##NAME##_span {                                                              \
    RK_GLOBAL const rk_##NAME* at;                                                               \
    rk_u32 count;                                                                                \
  } rk_##NAME##_span;                                                                            \
  RK_FN rk_##NAME rk_flat_read_##NAME(rk_const_bytes from) { RK_FLAT_LOAD(rk_##NAME, from); }    \
  RK_FN rk_##NAME rk_flat_##NAME(const rk_flat* flat, rk_u32 slot, rk_##NAME absent) {           \
    const rk_u32 bytes = (rk_u32)sizeof(rk_##NAME);                                              \
    const rk_u32 at = rk_flat_field(flat, slot, bytes, bytes);                                   \
    return at != 0 ? rk_flat_read_##NAME(flat->base + at) : absent;                              \
  }                                                                                              \
  RK_FN rk_##NAME##_span rk_flat_##NAME##_span(const rk_flat* flat, rk_u32 slot) {               \
    const rk_u32 bytes = (rk_u32)sizeof(rk_##NAME);                                              \
    rk_##NAME##_span span;                                                                       \
    span.at = (RK_GLOBAL const rk_##NAME*)rk_flat_vector(flat, slot, bytes, bytes, &span.count); \
    return span;                                                                                 \
  }

RK_FLAT_NUMBER(u8)
RK_FLAT_NUMBER(i8)
RK_FLAT_NUMBER(u16)
RK_FLAT_NUMBER(i16)
RK_FLAT_NUMBER(u32)
RK_FLAT_NUMBER(i32)
RK_FLAT_NUMBER(u64)
RK_FLAT_NUMBER(i64)
RK_FLAT_NUMBER(f32)
#if RK_HAS_F64
RK_FLAT_NUMBER(f64)
#endif

/// Zeroes a reply, which is aligned to 8 and has a multiple of 8 bytes: nothing of what the ring
/// held before is sent.
RK_FN void rk_flat_zero(rk_bytes at, rk_u32 bytes) {
#if defined(__OPENCL_C_VERSION__)
  RK_GLOBAL rk_u64* const words = (RK_GLOBAL rk_u64*)at;
  for (rk_u32 i = 0; i < bytes / 8u; ++i) words[i] = 0;
#else
  __builtin_memset(at, 0, bytes);
#endif
}

/// Ends the message with a fault of the runtime's own.
RK_FN rk_u32 rk_flat_refuse(rk_self* self, rk_u32 fault, rk_u64 detail) {
  self->fault_detail = detail;
  return fault;
}

/// What stands before a method's handler: whose it is, and whether state and reply are there.
RK_FN rk_u32 rk_flat_expect(rk_self* self, rk_u32 behaviour, rk_u32 state_bytes,
                            rk_u32 reply_bytes) {
  self->malformed = 0;
  self->fault_detail = 0;
  if (self->behaviour != behaviour)
    return rk_flat_refuse(self, RK_FAULT_unknown_method, self->selector);
  if (self->state_bytes < state_bytes)
    return rk_flat_refuse(self, RK_FAULT_state_mismatch, state_bytes);
  if (self->reply_bytes < reply_bytes)
    return rk_flat_refuse(self, RK_FAULT_reply_too_small, reply_bytes);
  return RK_OK;
}

/// What stands behind it: the message's outcome, and how long its reply is. What one lane could not
/// read, the message could not.
RK_FN rk_u32 rk_flat_end(rk_self* self, rk_u32 outcome, rk_u32 reply_bytes) {
  if (rk_any(self, self->malformed) != 0)
    return rk_flat_refuse(self, RK_FAULT_malformed_request, 0);
  if (outcome == RK_OK && reply_bytes <= self->reply_bytes) self->reply_bytes = reply_bytes;
  return rk_outcome(self, outcome);
}

#endif
