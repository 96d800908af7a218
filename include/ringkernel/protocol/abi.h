/// The root of the protocol: fixed-width types and the layout assertions.
///
/// Shared by host C++20, C11 and OpenCL C. Every header in this folder is data only: structs,
/// constants and tables. No functions, no atomics, no pointers, no enums as fields; the
/// operations live in `kernels/rk_atomics.h` (device) and `src/ring/` (host).
#ifndef RINGKERNEL_PROTOCOL_ABI_H
#define RINGKERNEL_PROTOCOL_ABI_H

#if defined(__OPENCL_C_VERSION__)
typedef uchar rk_u8;
typedef ushort rk_u16;
typedef uint rk_u32;
typedef ulong rk_u64;
typedef char rk_i8;
typedef short rk_i16;
typedef int rk_i32;
typedef long rk_i64;
typedef float rk_f32;
#define RK_STATIC_ASSERT(expression, message) _Static_assert(expression, message)
#define RK_OFFSETOF(type, field) __builtin_offsetof(type, field)
#else
#include <stddef.h>
#include <stdint.h>
/// Words of the same width on host and device.
///@{
typedef uint8_t rk_u8;
typedef uint16_t rk_u16;
typedef uint32_t rk_u32;
typedef uint64_t rk_u64;
typedef int8_t rk_i8;
typedef int16_t rk_i16;
typedef int32_t rk_i32;
typedef int64_t rk_i64;
typedef float rk_f32;
///@}
#if defined(__cplusplus)
#define RK_STATIC_ASSERT(expression, message) static_assert(expression, message)
#else
#define RK_STATIC_ASSERT(expression, message) _Static_assert(expression, message)
#endif
#define RK_OFFSETOF(type, field) offsetof(type, field)
#endif

/// Asserts the size of a struct that both sides know.
#define RK_LAYOUT(type, bytes) \
  RK_STATIC_ASSERT(sizeof(type) == (bytes), #type " changed size: bump RK_PROTOCOL_VERSION")

/// Bytes that one writer owns at a time. Two 64-byte cache lines, because adjacent-line
/// prefetchers pull lines in pairs; our own constant, never the compiler's.
#define RK_LINE_BYTES 128

/// Alignment of records in a ring and of inline operand data in a message.
#define RK_RECORD_ALIGN 64

#endif
