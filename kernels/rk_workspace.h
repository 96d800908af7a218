/// How much memory an executor's backend keeps for what an op packs: none of it is on a stack, of
/// which a caller's thread may have little and a GPU gives every work-item the same.
///
/// It lies outside the arena, so that no operand of a message can name it, and nothing of it is
/// copied between two memories. An op finds in it whatever the last one left.
#ifndef RINGKERNEL_RK_WORKSPACE_H
#define RINGKERNEL_RK_WORKSPACE_H

/// For each work-item of each work-group, aligned to 64 bytes. ops/product.h has the arithmetic.
#define RK_WORKSPACE_BYTES 434176

/// Local memory of each work-group: its rk_slice (rk_slice.h). On the host it stays between slices.
#define RK_SLICE_BYTES 4864

#endif
