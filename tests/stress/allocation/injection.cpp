#include "stress/allocation/injection.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RK_REPLACES_MALLOC 0
#else
#define RK_REPLACES_MALLOC 1
#endif

namespace ringkernel::test::injection {
namespace {

std::atomic<bool> armed{false};
std::atomic<bool> whole_process{false};
std::atomic<bool> has_failed{false};
std::atomic<std::uint64_t> counted{0};
std::atomic<std::uint64_t> wanted{0};

// All in the executable's own thread-local memory, which needs no allocation.
constinit thread_local bool arming = false;   // the thread that armed
constinit thread_local bool foreign = false;  // a driver's thread
constinit thread_local int in_driver = 0;

struct Range {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

/// Where the dynamic linker's code lies.
const Range& linker() noexcept {
  static const Range range = [] {
    Range found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
          if (std::strstr(info->dlpi_name, "/ld-") == nullptr) return 0;
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const ElfW(Phdr)& segment = info->dlpi_phdr[i];
            if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
            const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
            *static_cast<Range*>(to) = {begin, begin + segment.p_memsz};
          }
          return 1;
        },
        &found);
    return found;
  }();
  return range;
}

/// Where it failed, for whoever debugs: RK_ALLOCATION_TRACE=1.
void tell_where() noexcept {
  static const bool wants = std::getenv("RK_ALLOCATION_TRACE") != nullptr;
  if (!wants) return;
  ++in_driver;  // what telling needs is not counted
  void* frames[48];
  const int count = backtrace(frames, 48);
  backtrace_symbols_fd(frames, count, STDERR_FILENO);
  --in_driver;
}

bool fails(const void* caller) noexcept {
  if (!armed.load(std::memory_order_relaxed)) [[likely]]
    return false;
  if (foreign || in_driver != 0) return false;
  if (!whole_process.load(std::memory_order_relaxed) && !arming) return false;
  const auto at = reinterpret_cast<std::uintptr_t>(caller);
  if (at >= linker().begin && at < linker().end) return false;
  if (counted.fetch_add(1, std::memory_order_relaxed) + 1 != wanted.load(std::memory_order_relaxed))
    return false;
  has_failed.store(true, std::memory_order_relaxed);
  tell_where();
  return true;
}

}  // namespace

void arm(Scope scope, std::uint64_t n) noexcept {
  (void)linker();
  arming = true;
  whole_process.store(scope == Scope::process, std::memory_order_relaxed);
  counted.store(0, std::memory_order_relaxed);
  wanted.store(n, std::memory_order_relaxed);
  has_failed.store(false, std::memory_order_relaxed);
  armed.store(true, std::memory_order_seq_cst);
}

bool disarm() noexcept {
  armed.store(false, std::memory_order_seq_cst);
  arming = false;
  return has_failed.load(std::memory_order_relaxed);
}

InDriver::InDriver() noexcept { ++in_driver; }
InDriver::~InDriver() { --in_driver; }

}  // namespace ringkernel::test::injection

using ringkernel::test::injection::fails;

/// In the place of everybody's in the process, libstdc++ included.
#define RK_EXPORTED __attribute__((visibility("default")))

#if RK_REPLACES_MALLOC

extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* old, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);

RK_EXPORTED void* malloc(std::size_t bytes) noexcept {
  if (!fails(__builtin_return_address(0))) return __libc_malloc(bytes);
  errno = ENOMEM;
  return nullptr;
}
RK_EXPORTED void* calloc(std::size_t count, std::size_t bytes) noexcept {
  if (!fails(__builtin_return_address(0))) return __libc_calloc(count, bytes);
  errno = ENOMEM;
  return nullptr;
}
RK_EXPORTED void* realloc(void* old, std::size_t bytes) noexcept {
  if (!fails(__builtin_return_address(0))) return __libc_realloc(old, bytes);
  errno = ENOMEM;
  return nullptr;
}
RK_EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  if (!fails(__builtin_return_address(0))) return __libc_memalign(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}
RK_EXPORTED int posix_memalign(void** to, std::size_t alignment, std::size_t bytes) noexcept {
  if (fails(__builtin_return_address(0))) return ENOMEM;
  *to = __libc_memalign(alignment, bytes);
  return *to == nullptr ? ENOMEM : 0;
}

/// Of a thread that starts inside a driver all allocations are the driver's.
RK_EXPORTED int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                               void* (*run)(void*), void* argument) noexcept {
  using namespace ringkernel::test::injection;
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const Create create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  struct Start {
    void* (*run)(void*);
    void* argument;
  };
  if (!foreign && in_driver == 0) return create(thread, attributes, run, argument);
  auto* const start = static_cast<Start*>(__libc_malloc(sizeof(Start)));
  if (start == nullptr) return EAGAIN;
  *start = {run, argument};
  const int status = create(
      thread, attributes,
      [](void* given) -> void* {
        const Start mine = *static_cast<Start*>(given);
        std::free(given);
        foreign = true;
        return mine.run(mine.argument);
      },
      start);
  if (status != 0) std::free(start);
  return status;
}
}

namespace {
void* take(std::size_t bytes) noexcept { return __libc_malloc(bytes); }
void* take(std::size_t bytes, std::size_t alignment) noexcept {
  return __libc_memalign(alignment, bytes);
}
}  // namespace

#else

namespace {
void* take(std::size_t bytes) noexcept { return std::malloc(bytes); }
void* take(std::size_t bytes, std::size_t alignment) noexcept {
  return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
}  // namespace

#endif

namespace {

template <class... Alignment>
void* give(const void* caller, std::size_t bytes, Alignment... alignment) noexcept {
  if (fails(caller)) return nullptr;
  return take(bytes != 0 ? bytes : 1, static_cast<std::size_t>(alignment)...);
}

void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

#define RK_CALLER __builtin_return_address(0)

RK_EXPORTED void* operator new(std::size_t bytes) { return or_throw(give(RK_CALLER, bytes)); }
RK_EXPORTED void* operator new[](std::size_t bytes) { return or_throw(give(RK_CALLER, bytes)); }
RK_EXPORTED void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return or_throw(give(RK_CALLER, bytes, alignment));
}
RK_EXPORTED void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return or_throw(give(RK_CALLER, bytes, alignment));
}
RK_EXPORTED void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return give(RK_CALLER, bytes);
}
RK_EXPORTED void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return give(RK_CALLER, bytes);
}
RK_EXPORTED void* operator new(std::size_t bytes, std::align_val_t alignment,
                               const std::nothrow_t&) noexcept {
  return give(RK_CALLER, bytes, alignment);
}
RK_EXPORTED void* operator new[](std::size_t bytes, std::align_val_t alignment,
                                 const std::nothrow_t&) noexcept {
  return give(RK_CALLER, bytes, alignment);
}
RK_EXPORTED void operator delete(void* memory) noexcept { std::free(memory); }
RK_EXPORTED void operator delete[](void* memory) noexcept { std::free(memory); }
RK_EXPORTED void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
RK_EXPORTED void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
RK_EXPORTED void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
RK_EXPORTED void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
RK_EXPORTED void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
RK_EXPORTED void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
RK_EXPORTED void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
RK_EXPORTED void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
