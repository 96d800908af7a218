/// Loads, stores and fences on the words that host and device share, in the four spellings that
/// compilers know: PTX, OpenCL C with C11 atomics, OpenCL C without them, host C++20. rk_device.h
/// includes this file; nothing else does.
///
/// Memory ordering: the helpers are named after the C11 orders. There is no read-modify-write:
/// every word has one writer.
#ifndef RINGKERNEL_RK_ATOMICS_H
#define RINGKERNEL_RK_ATOMICS_H

#include "ringkernel/protocol/abi.h"

// The widest scope that the device compiler declares, to order against the host (fine-grained SVM).
// PoCL 3.1 lists all-devices scope but declares only memory_scope_device; on a CPU device the two
// are the same fence. Where a GPU lacks all-devices scope, the self-test decides.
#if defined(__opencl_c_atomic_scope_all_devices)
#define RK_SCOPE memory_scope_all_svm_devices
#elif defined(__opencl_c_atomic_scope_device)
#define RK_SCOPE memory_scope_device
#endif

#if defined(RK_PTX)  // the backend says so (backend/opencl/program.cpp): NVIDIA, from sm_70 on

// NVIDIA's OpenCL C has no scope wider than a work-group, and its mem_fence does no more: a ring
// that wraps around is then read as the work-group's cache remembers it (seen on an H100: records
// of which half were old). The machine has the scope, "sys", the host's threads included; so PTX
// says it.
#define RK_PTX_LOAD(name, value_type, order, type, letter)        \
  RK_INLINE value_type name(__global const value_type* word) {    \
    value_type value;                                             \
    __asm__ volatile("ld." order ".sys.global." type " %0, [%1];" \
                     : "=" letter(value)                          \
                     : "l"(word)                                  \
                     : "memory");                                 \
    return value;                                                 \
  }
#define RK_PTX_STORE(name, value_type, order, type, letter)          \
  RK_INLINE void name(__global value_type* word, value_type value) { \
    __asm__ volatile("st." order ".sys.global." type " [%0], %1;"    \
                     :                                               \
                     : "l"(word), letter(value)                      \
                     : "memory");                                    \
  }
RK_PTX_LOAD(rk_load_relaxed_u32, rk_u32, "relaxed", "u32", "r")
RK_PTX_LOAD(rk_load_acquire_u32, rk_u32, "acquire", "u32", "r")
RK_PTX_LOAD(rk_load_relaxed_u64, rk_u64, "relaxed", "u64", "l")
RK_PTX_LOAD(rk_load_acquire_u64, rk_u64, "acquire", "u64", "l")
RK_PTX_STORE(rk_store_relaxed_u32, rk_u32, "relaxed", "u32", "r")
RK_PTX_STORE(rk_store_relaxed_u64, rk_u64, "relaxed", "u64", "l")
RK_PTX_STORE(rk_store_release_u32, rk_u32, "release", "u32", "r")
RK_PTX_STORE(rk_store_release_u64, rk_u64, "release", "u64", "l")
RK_INLINE void rk_fence_acquire(void) { __asm__ volatile("fence.acq_rel.sys;" : : : "memory"); }
RK_INLINE void rk_fence_seq_cst(void) { __asm__ volatile("fence.sc.sys;" : : : "memory"); }

#elif defined(RK_SCOPE) && defined(__opencl_c_atomic_order_acq_rel) &&                \
    defined(__opencl_c_atomic_order_seq_cst) && defined(cl_khr_int64_base_atomics) && \
    defined(cl_khr_int64_extended_atomics)

#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#pragma OPENCL EXTENSION cl_khr_int64_extended_atomics : enable

RK_INLINE rk_u32 rk_load_relaxed_u32(__global const rk_u32* word) {
  return atomic_load_explicit((volatile __global atomic_uint*)word, memory_order_relaxed, RK_SCOPE);
}
RK_INLINE rk_u32 rk_load_acquire_u32(__global const rk_u32* word) {
  return atomic_load_explicit((volatile __global atomic_uint*)word, memory_order_acquire, RK_SCOPE);
}
RK_INLINE rk_u64 rk_load_relaxed_u64(__global const rk_u64* word) {
  return atomic_load_explicit((volatile __global atomic_ulong*)word, memory_order_relaxed,
                              RK_SCOPE);
}
RK_INLINE rk_u64 rk_load_acquire_u64(__global const rk_u64* word) {
  return atomic_load_explicit((volatile __global atomic_ulong*)word, memory_order_acquire,
                              RK_SCOPE);
}
RK_INLINE void rk_store_relaxed_u32(__global rk_u32* word, rk_u32 value) {
  atomic_store_explicit((volatile __global atomic_uint*)word, value, memory_order_relaxed,
                        RK_SCOPE);
}
RK_INLINE void rk_store_relaxed_u64(__global rk_u64* word, rk_u64 value) {
  atomic_store_explicit((volatile __global atomic_ulong*)word, value, memory_order_relaxed,
                        RK_SCOPE);
}
RK_INLINE void rk_store_release_u32(__global rk_u32* word, rk_u32 value) {
  atomic_store_explicit((volatile __global atomic_uint*)word, value, memory_order_release,
                        RK_SCOPE);
}
RK_INLINE void rk_store_release_u64(__global rk_u64* word, rk_u64 value) {
  atomic_store_explicit((volatile __global atomic_ulong*)word, value, memory_order_release,
                        RK_SCOPE);
}
RK_INLINE void rk_fence_acquire(void) {
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, RK_SCOPE);
}
RK_INLINE void rk_fence_seq_cst(void) {
  atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, RK_SCOPE);
}

#elif defined(__OPENCL_C_VERSION__)  // 1.2, or 3.0 whose optional features are missing

// A volatile access is made once and as a whole, for the words are aligned and no wider than an
// address; mem_fence orders what this one work-item reads and writes in global memory: behind a
// load it makes an acquire, before a store a release, between a store and a load a full fence. That
// is enough where nobody else runs meanwhile (the host copies between two slices), and where a
// transfer engine writes whole words into the device's memory, a record before its position. It is
// no promise that a running kernel ever sees what somebody else writes: whether caches let it is
// for the self-test of a transfer strategy to find out. Nor does OpenCL 1.2 know a host that works
// on the same memory meanwhile: what zero_copy is built on are the C11 atomics above.
RK_INLINE rk_u32 rk_load_relaxed_u32(__global const rk_u32* word) {
  return *(volatile __global const rk_u32*)word;
}
RK_INLINE rk_u32 rk_load_acquire_u32(__global const rk_u32* word) {
  const rk_u32 value = rk_load_relaxed_u32(word);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  return value;
}
RK_INLINE rk_u64 rk_load_relaxed_u64(__global const rk_u64* word) {
  return *(volatile __global const rk_u64*)word;
}
RK_INLINE rk_u64 rk_load_acquire_u64(__global const rk_u64* word) {
  const rk_u64 value = rk_load_relaxed_u64(word);
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  return value;
}
RK_INLINE void rk_store_relaxed_u32(__global rk_u32* word, rk_u32 value) {
  *(volatile __global rk_u32*)word = value;
}
RK_INLINE void rk_store_relaxed_u64(__global rk_u64* word, rk_u64 value) {
  *(volatile __global rk_u64*)word = value;
}
RK_INLINE void rk_store_release_u32(__global rk_u32* word, rk_u32 value) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  rk_store_relaxed_u32(word, value);
}
RK_INLINE void rk_store_release_u64(__global rk_u64* word, rk_u64 value) {
  mem_fence(CLK_GLOBAL_MEM_FENCE);
  rk_store_relaxed_u64(word, value);
}
RK_INLINE void rk_fence_acquire(void) { mem_fence(CLK_GLOBAL_MEM_FENCE); }
RK_INLINE void rk_fence_seq_cst(void) { mem_fence(CLK_GLOBAL_MEM_FENCE); }

#else  // host C++20

#include <atomic>

RK_INLINE rk_u32 rk_load_relaxed_u32(const rk_u32* word) {
  return std::atomic_ref(*const_cast<rk_u32*>(word)).load(std::memory_order_relaxed);
}
RK_INLINE rk_u32 rk_load_acquire_u32(const rk_u32* word) {
  return std::atomic_ref(*const_cast<rk_u32*>(word)).load(std::memory_order_acquire);
}
RK_INLINE rk_u64 rk_load_relaxed_u64(const rk_u64* word) {
  return std::atomic_ref(*const_cast<rk_u64*>(word)).load(std::memory_order_relaxed);
}
RK_INLINE rk_u64 rk_load_acquire_u64(const rk_u64* word) {
  return std::atomic_ref(*const_cast<rk_u64*>(word)).load(std::memory_order_acquire);
}
RK_INLINE void rk_store_relaxed_u32(rk_u32* word, rk_u32 value) {
  std::atomic_ref(*word).store(value, std::memory_order_relaxed);
}
RK_INLINE void rk_store_relaxed_u64(rk_u64* word, rk_u64 value) {
  std::atomic_ref(*word).store(value, std::memory_order_relaxed);
}
RK_INLINE void rk_store_release_u32(rk_u32* word, rk_u32 value) {
  std::atomic_ref(*word).store(value, std::memory_order_release);
}
RK_INLINE void rk_store_release_u64(rk_u64* word, rk_u64 value) {
  std::atomic_ref(*word).store(value, std::memory_order_release);
}

// ThreadSanitizer does not model fences (GCC says so with -Wtsan): in that build an acquire or
// full fence is an RMW on a word of this file's own, which it does model and which is a full fence
// on the machines it runs on.
#if defined(__SANITIZE_THREAD__)
inline std::atomic<rk_u32> rk_fence_word{0};
RK_INLINE void rk_fence_acquire() { rk_fence_word.fetch_add(0, std::memory_order_seq_cst); }
RK_INLINE void rk_fence_seq_cst() { rk_fence_word.fetch_add(0, std::memory_order_seq_cst); }
#else
RK_INLINE void rk_fence_acquire() { std::atomic_thread_fence(std::memory_order_acquire); }
RK_INLINE void rk_fence_seq_cst() { std::atomic_thread_fence(std::memory_order_seq_cst); }
#endif

#endif

#endif
