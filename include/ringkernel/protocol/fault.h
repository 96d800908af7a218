/// How a message, or a whole ring kernel, fails on the device: the codes of fault.def, and those
/// that handlers choose.
#ifndef RINGKERNEL_PROTOCOL_FAULT_H
#define RINGKERNEL_PROTOCOL_FAULT_H

/// The codes of the system; 0: no fault.
enum rk_fault_code {
  RK_FAULT_NONE = 0,
#define RK_FAULT(code, name, sentence) RK_FAULT_##name = code,
#include "ringkernel/protocol/fault.def"
#undef RK_FAULT
};

/// A handler's own codes, 1 to RK_FAULT_CODE_MAX, are faults above this number.
#define RK_FAULT_HANDLER_BASE 0x10000u
#define RK_FAULT_CODE_MAX 65535u

/// Details of RK_FAULT_program_overran: what the handler wrote beyond, one of them or both.
#define RK_OVERRAN_REPLY 1u
#define RK_OVERRAN_STATE 2u

#endif
