/// What both sides compare before they trust each other's bytes.
///
/// Bump RK_PROTOCOL_VERSION whenever a size, an offset, a meaning or an id in this folder changes.
/// Adding an op, an op attribute record that fits the union, or a fault code is no such change.
#ifndef RINGKERNEL_PROTOCOL_VERSION_H
#define RINGKERNEL_PROTOCOL_VERSION_H

/// "RKRN" in little-endian bytes.
#define RK_PROTOCOL_MAGIC 0x4e524b52u

#define RK_PROTOCOL_VERSION 9u

#endif
