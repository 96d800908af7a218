/// Walks the index space of up to two operands in row-major order, one offset for each.
///
/// Dims are pushed innermost first. A dim that continues the one before it (in both operands) is
/// merged into it, so that a dense tensor is one dim whatever its rank, and a broadcast has as few
/// dims as it can have. Strides and offsets count elements; stride 0 repeats.
#ifndef RINGKERNEL_OPS_ODOMETER_H
#define RINGKERNEL_OPS_ODOMETER_H

typedef struct rk_odometer {
  rk_u32 rank;
  rk_u32 extents[RK_RANK_MAX];
  rk_u32 index[RK_RANK_MAX];
  rk_u32 a_strides[RK_RANK_MAX];
  rk_u32 b_strides[RK_RANK_MAX];
  rk_u64 a;
  rk_u64 b;
} rk_odometer;

RK_INLINE void rk_odometer_begin(rk_odometer* walk) {
  walk->rank = 0;
  walk->a = 0;
  walk->b = 0;
}

RK_INLINE void rk_odometer_push(rk_odometer* walk, rk_u32 extent, rk_u32 a_stride,
                                rk_u32 b_stride) {
  if (extent == 1) return;
  if (walk->rank != 0) {
    const rk_u32 inner = walk->rank - 1;
    const rk_u64 inner_extent = walk->extents[inner];
    if (a_stride == inner_extent * walk->a_strides[inner] &&
        b_stride == inner_extent * walk->b_strides[inner]) {
      walk->extents[inner] *= extent;
      return;
    }
  }
  walk->extents[walk->rank] = extent;
  walk->index[walk->rank] = 0;
  walk->a_strides[walk->rank] = a_stride;
  walk->b_strides[walk->rank] = b_stride;
  ++walk->rank;
}

/// The innermost dim, which the caller runs through by itself: its extent, and its strides 0 or 1.
RK_INLINE rk_u32 rk_odometer_run(const rk_odometer* walk) {
  return walk->rank == 0 ? 1 : walk->extents[0];
}

/// Takes dim `dim`, which has come to its end, back to its first index, and steps the dims outside
/// of it. Not inlined: unrolled over eight dims and drawn out of the caller's loop, its preparation
/// took an op without outer dims, the usual case, a quarter of its instructions.
RK_NOINLINE rk_u32 rk_odometer_carry(rk_odometer* walk, rk_u32 dim) {
  for (;;) {
    walk->index[dim] = 0;
    walk->a -= (rk_u64)walk->a_strides[dim] * walk->extents[dim];
    walk->b -= (rk_u64)walk->b_strides[dim] * walk->extents[dim];
    if (++dim == walk->rank) return 0;
    walk->a += walk->a_strides[dim];
    walk->b += walk->b_strides[dim];
    if (++walk->index[dim] < walk->extents[dim]) return 1;
  }
}

/// Steps dims `first` and outwards to the next index; 0 when it has come round to the first one.
RK_INLINE rk_u32 rk_odometer_next(rk_odometer* walk, rk_u32 first) {
  if (first >= walk->rank) return 0;
  walk->a += walk->a_strides[first];
  walk->b += walk->b_strides[first];
  return ++walk->index[first] < walk->extents[first] || rk_odometer_carry(walk, first);
}

/// Goes from the first index to number `position` in row-major order, which there is.
RK_INLINE void rk_odometer_seek(rk_odometer* walk, rk_u64 position) {
  for (rk_u32 dim = 0; dim < walk->rank; ++dim) {
    const rk_u32 index = (rk_u32)(position % walk->extents[dim]);
    position /= walk->extents[dim];
    walk->index[dim] = index;
    walk->a += (rk_u64)walk->a_strides[dim] * index;
    walk->b += (rk_u64)walk->b_strides[dim] * index;
  }
}

/// Pushes `dims` dims of the broadcast of `a` and `b`, the innermost `skip` of each left out; `out`
/// must be that broadcast. `a_stride` and `b_stride` are those of the first dim pushed.
/// Returns 0 if the shapes do not fit.
RK_OUTLINE rk_u32 rk_odometer_push_broadcast(rk_odometer* walk, RK_GLOBAL const rk_operand* out,
                                             RK_GLOBAL const rk_operand* a,
                                             RK_GLOBAL const rk_operand* b, rk_u32 skip,
                                             rk_u32 a_stride, rk_u32 b_stride) {
  const rk_u32 rank = a->rank > b->rank ? a->rank : b->rank;
  if (out->rank != rank) return 0;
  for (rk_u32 inner = skip; inner < rank; ++inner) {
    const rk_u32 extent = out->dims[rank - 1 - inner];
    const rk_u32 a_extent = inner < a->rank ? a->dims[a->rank - 1u - inner] : 1;
    const rk_u32 b_extent = inner < b->rank ? b->dims[b->rank - 1u - inner] : 1;
    if (a_extent != extent && (a_extent != 1 || b_extent != extent)) return 0;
    if (b_extent != extent && (b_extent != 1 || a_extent != extent)) return 0;
    rk_odometer_push(walk, extent, a_extent == 1 ? 0 : a_stride, b_extent == 1 ? 0 : b_stride);
    a_stride *= a_extent;
    b_stride *= b_extent;
  }
  return 1;
}

#endif
