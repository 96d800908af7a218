/// Makes the n-th allocation of this process fail: `malloc` and its relatives answer null, operator
/// new throws std::bad_alloc. Linking this replaces them in the whole executable.
///
/// What counts is memory that we ask for, directly or through the C and C++ libraries. Not counted,
/// because what becomes of it is not ours: what an OpenCL driver allocates, inside a call into it
/// or on a thread that it has started (PoCL and LLVM end the process), and the dynamic linker,
/// which does so too.
///
/// Under a sanitizer operator new alone fails: the sanitizers replace malloc and pthread_create
/// themselves. The threads of a driver are then not told from ours.
///
/// Threading: `arm` and `disarm` by one thread; allocations by any.
#pragma once

#include <cstdint>

namespace ringkernel::test::injection {

enum class Scope : std::uint8_t {
  thread,  ///< of the thread that arms: the same ones each time
  process  ///< of all threads
};

/// From here on allocations are counted from 1, and number `n` fails.
void arm(Scope scope, std::uint64_t n) noexcept;
/// Nothing fails any more. Whether something has.
bool disarm() noexcept;

/// The calling thread is inside a driver as long as this lives.
class InDriver {
 public:
  InDriver() noexcept;
  InDriver(const InDriver&) = delete;
  InDriver& operator=(const InDriver&) = delete;
  ~InDriver();
};

/// Loads OpenCL, and has each call into it be one into a driver. Does nothing where there is none.
void watch_driver();

}  // namespace ringkernel::test::injection
