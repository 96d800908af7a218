/// Everything a user of the library needs.
#pragma once

#include "ringkernel/compiled_function.hpp"
#include "ringkernel/events.hpp"
#include "ringkernel/graph.hpp"
#include "ringkernel/kernel.hpp"
#include "ringkernel/log.hpp"
#include "ringkernel/message.hpp"
#include "ringkernel/op.hpp"
#include "ringkernel/ops.hpp"
#include "ringkernel/options.hpp"
#include "ringkernel/result.hpp"
#include "ringkernel/runtime.hpp"
#include "ringkernel/telemetry.hpp"
#include "ringkernel/tensor.hpp"
#include "ringkernel/tensor_handle.hpp"
#include "ringkernel/version.hpp"
