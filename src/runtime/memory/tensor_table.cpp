#include "runtime/memory/tensor_table.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "foundation/assert.hpp"
#include "foundation/scope_guard.hpp"
#include "ops/ir_text.hpp"
#include "ops/rules.hpp"

namespace ringkernel {
namespace {

/// Counts tensors of all runtimes, so that a handle of one is never taken for one of another.
TensorId next_id() noexcept {
  static std::atomic<TensorId> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;  // only distinct
}

std::string text(TensorId id) {
  return id == no_tensor ? "a handle of no resident tensor" : "tensor " + std::to_string(id);
}

/// The descriptor, made anew from its extents with checked arithmetic.
Result<void> check(const TensorDesc& desc, BackendTarget target) {
  RK_TRY_VOID(ops::check_desc(desc));
  // Integer tensors are indices there, see `breaks_profile`; they are not read in vectors.
  if (target == BackendTarget::gpu && desc.dtype == DType::f32 && desc.element_count() % 4 != 0)
    return Error(Errc::allocation_failure,
                 desc.text() + " has " + std::to_string(desc.element_count()) +
                     " elements; on a gpu the count is a multiple of 4, and a scalar is f32[4]");
  return {};
}

Error not_indices(TensorId id, const TensorDesc& desc) {
  return {Errc::invalid_dtype, text(id) + " is " + desc.text() +
                                   "; on a gpu an integer tensor is the indices of a gather and"
                                   " nothing else"};
}

}  // namespace

class TensorTable::Copying {
 public:
  Copying(TensorTable& table, Lock& lock) noexcept : table_(table), lock_(lock) {
    ++table_.copies_;
    lock_.unlock();
  }
  Copying(const Copying&) = delete;
  Copying& operator=(const Copying&) = delete;
  ~Copying() {
    lock_.lock();
    --table_.copies_;
    table_.copied_.notify_all();
  }

 private:
  TensorTable& table_;
  Lock& lock_;
};

// --- allocation -------------------------------------------------------------------------------

Result<TensorId> TensorTable::allocate(const TensorDesc& desc) {
  RK_TRY_VOID(check(desc, target_));
  Lock lock(mutex_);
  if (closed_) return Error(Errc::runtime_closed, "allocation of " + desc.text());
  if (entries_.size() == tensors_max)
    return Error(Errc::limit_exceeded,
                 "a runtime has at most " + std::to_string(tensors_max) + " tensors");
  const TensorId id = next_id();
  Entry& entry = entries_.emplace(id, Entry{.id = id, .desc = desc}).first->second;
  ScopeGuard leaving([&]() noexcept { entries_.erase(id); });  // with the lock
  Result<std::uint64_t> offset = [&] {
    const Copying copying(*this, lock);
    return make_room(desc.bytes());
  }();
  if (!offset) return Error(offset.error().code, desc.text() + ": " + offset.error().detail);
  leaving.dismiss();
  bytes_ += desc.bytes();
  entry.offset = *offset;
  entry.host_only = false;
  return id;
}

Result<std::uint64_t> TensorTable::make_room(std::uint64_t bytes) {
  RK_TRY(offset,
         arena_.allocate(bytes, {.alignment = Arena::granule_bytes, .end = Arena::End::high}));
  ScopeGuard giving_back([&]() noexcept { arena_.free(offset, bytes); });
  std::memset(arena_.data() + offset, 0, bytes);
  RK_TRY_VOID(to_device(offset, bytes));
  giving_back.dismiss();
  return offset;
}

void TensorTable::give_up(TensorId id) noexcept {
  Lock lock(mutex_);
  const auto found = entries_.find(id);
  if (closed_ || found == entries_.end()) return;
  found->second.deallocated = true;
  bury_if_unused(lock, found->second);
}

Result<void> TensorTable::deallocate(TensorId id) {
  Lock lock(mutex_);
  RK_TRY(entry, find(id));
  entry->deallocated = true;
  bury_if_unused(lock, *entry);
  return {};
}

void TensorTable::bury_if_unused(Lock& lock, Entry& entry) noexcept {
  if (!entry.deallocated || !entry.unused()) return;
  const auto node = entries_.extract(entry.id);  // from here on nobody else knows of it
  const std::uint64_t bytes = entry.desc.bytes();
  bytes_ -= bytes;
  if (closed_) return;
  const Copying copying(*this, lock);
  std::memset(arena_.data() + entry.offset, 0, bytes);
  arena_.free(entry.offset, bytes);
}

// --- messages ---------------------------------------------------------------------------------

Result<TensorTable::Entry*> TensorTable::find(TensorId id) {
  if (closed_) return Error(Errc::runtime_closed, text(id));
  const auto found = entries_.find(id);
  if (found != entries_.end() && !found->second.deallocated) return &found->second;
  return Error(Errc::tensor_not_found, text(id) + " was deallocated, or is another runtime's");
}

bool TensorTable::takes(const TensorDesc& output, const TensorDesc& result) const noexcept {
  // There every tensor has room for a scalar and the zeros that the device sets behind it.
  const bool takes_scalar = target_ == BackendTarget::gpu && result.shape.rank() == 0;
  return output.shape == result.shape || takes_scalar;
}

Result<TensorTable::Entry*> TensorTable::find_output(const Request& request,
                                                     const TensorDesc& result) {
  RK_TRY(output, find(request.output));
  const auto differs = [&](Errc code) {
    return Error(code, "the result is " + result.text() + ", the output " + text(request.output) +
                           " is " + output->desc.text());
  };
  if (output->desc.dtype != result.dtype) return differs(Errc::dtype_mismatch);
  if (breaks_profile(result.dtype)) return not_indices(request.output, output->desc);
  if (!takes(output->desc, result)) return differs(Errc::dimension_mismatch);
  for (std::size_t i = 0; i < request.input_count; ++i)
    if (request.inputs[i].tensor == request.output &&
        (!ops::is_elementwise(request.op) || request.inputs[i].desc != result))
      return Error(Errc::invalid_argument, text(request.output) + " is operand " +
                                               std::to_string(i) +
                                               " and output; only elementwise ops on equal shapes"
                                               " write over an operand");
  return output;
}

Result<std::array<TensorTable::Entry*, inputs_max + 1>> TensorTable::find_all(
    const Request& request, const TensorDesc& result) {
  std::array<Entry*, inputs_max + 1> tensors{};
  for (std::size_t i = 0; i < request.input_count; ++i) {
    const TensorView& view = request.inputs[i];
    if (view.tensor == 0) continue;
    RK_TRY(entry, find(view.tensor));
    if (entry->desc != view.desc)
      return Error(Errc::invalid_argument, text(view.tensor) + " is " + entry->desc.text() +
                                               ", operand " + std::to_string(i) + " says " +
                                               view.desc.text());
    if (breaks_profile(view.desc.dtype) && (request.op != Op::gather || i != 1))
      return not_indices(view.tensor, view.desc);
    tensors[i] = entry;
  }
  if (request.output != 0) {
    RK_TRY(output, find_output(request, result));
    tensors[inputs_max] = output;
  }
  return tensors;
}

Result<TensorTable::Held*> TensorTable::hold(const Request& request, const TensorDesc& result,
                                             bool wait) {
  Lock lock(mutex_);
  for (;;) {
    RK_TRY(tensors, find_all(request, result));
    const bool available = std::ranges::none_of(
        tensors, [](const Entry* entry) { return entry != nullptr && entry->host_only; });
    const Entry* const output = tensors[inputs_max];
    if (!available || (output != nullptr && output->host_readers != 0)) {
      if (!wait) return nullptr;
      copied_.wait(lock);
      continue;  // it may have been deallocated meanwhile
    }
    Held& held = spare(0);
    held.tensors_ = tensors;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i] == nullptr) continue;
      held.offsets_[i] = tensors[i]->offset;
      ++(i == inputs_max ? tensors[i]->writers : tensors[i]->readers);
    }
    return &held;
  }
}

TensorTable::Held& TensorTable::spare(std::size_t bound) {
  if (spare_ == nullptr) spare_ = &held_.emplace_back(*this);
  spare_->bound_.reserve(bound);  // nothing has changed yet
  spare_->bound_offsets_.reserve(bound);
  Held& held = *std::exchange(spare_, spare_->next_);
  held.tensors_ = {};
  return held;
}

Result<TensorTable::Entry*> TensorTable::find_bound(const Binding& binding) {
  const auto refuse = [&](Errc code, const std::string& what) {
    return Error(code, ops::place_text(binding.is_output ? "output" : "input", binding.number,
                                       *binding.name) +
                           ": " + what);
  };
  const Result<Entry*> found = find(binding.tensor);
  if (!found) {
    Error error = found.error();
    if (error == Errc::runtime_closed) return error;
    return refuse(Errc::tensor_not_found, error.detail);
  }
  Entry* const entry = *found;
  const auto differs = [&](Errc code) {
    return refuse(code, text(binding.tensor) + " is " + entry->desc.text() + ", expected " +
                            binding.desc.text());
  };
  if (entry->desc.dtype != binding.desc.dtype) return differs(Errc::dtype_mismatch);
  if (binding.is_output ? !takes(entry->desc, binding.desc) : entry->desc != binding.desc)
    return differs(binding.is_output ? Errc::dimension_mismatch : Errc::invalid_argument);
  if (breaks_profile(binding.desc.dtype) && !binding.is_indices)
    return refuse(Errc::invalid_dtype, not_indices(binding.tensor, entry->desc).detail);
  return entry;
}

Result<TensorTable::Held*> TensorTable::hold(std::span<const Binding> bindings) {
  Lock lock(mutex_);
  std::vector<Entry*> entries(bindings.size());
  for (;;) {
    bool available = true;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      RK_TRY(entry, find_bound(bindings[i]));
      entries[i] = entry;
      if (entry->host_only || (bindings[i].is_output && entry->host_readers != 0))
        available = false;
    }
    if (!available) {
      copied_.wait(lock);
      continue;  // it may have been deallocated meanwhile
    }
    Held& held = spare(bindings.size());
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      held.bound_.emplace_back(entries[i], bindings[i].is_output);
      held.bound_offsets_.push_back(entries[i]->offset);
      ++(bindings[i].is_output ? entries[i]->writers : entries[i]->readers);
    }
    return &held;
  }
}

void TensorTable::release(Held& held) noexcept {
  Lock lock(mutex_);
  // Where a tensor is wiped the lock is let go of: until the end the object is nobody else's.
  for (std::size_t i = 0; i < held.tensors_.size(); ++i) {
    Entry* const entry = held.tensors_[i];
    if (entry == nullptr) continue;
    --(i == inputs_max ? entry->writers : entry->readers);
    bury_if_unused(lock, *entry);
  }
  for (const auto& [entry, is_written] : held.bound_) {
    --(is_written ? entry->writers : entry->readers);
    bury_if_unused(lock, *entry);
  }
  held.bound_.clear();
  held.bound_offsets_.clear();
  held.next_ = std::exchange(spare_, &held);
}

// --- the host ---------------------------------------------------------------------------------

Result<bool> TensorTable::try_read(TensorId id, std::span<std::byte> elements) {
  Lock lock(mutex_);
  RK_TRY(entry, find(id));
  RK_ASSERT(elements.size() == entry->desc.bytes(), "the caller checks the length");
  if (entry->writers != 0 || entry->host_only) return false;
  ++entry->host_readers;
  const ScopeGuard ended([&]() noexcept {
    --entry->host_readers;
    bury_if_unused(lock, *entry);
  });
  const Copying copying(*this, lock);
  RK_TRY_VOID(to_host(entry->offset, elements.size()));
  std::memcpy(elements.data(), arena_.data() + entry->offset, elements.size());
  return true;
}

Result<bool> TensorTable::try_write(TensorId id, std::span<const std::byte> elements) {
  Lock lock(mutex_);
  RK_TRY(entry, find(id));
  RK_ASSERT(elements.size() == entry->desc.bytes(), "the caller checks the length");
  if (!entry->unused()) return false;
  entry->host_only = true;
  const ScopeGuard ended([&]() noexcept {
    entry->host_only = false;
    bury_if_unused(lock, *entry);
  });
  const Copying copying(*this, lock);
  if (memory_ != nullptr) RK_TRY_VOID(memory_->check_no_late_copies());
  std::memcpy(arena_.data() + entry->offset, elements.data(), elements.size());
  RK_TRY_VOID(to_device(entry->offset, elements.size()));
  return true;
}

Result<Defragmentation> TensorTable::defragment() {
  Defragmentation result;
  std::vector<std::pair<std::uint64_t, TensorId>> order;  // by offset
  Lock lock(mutex_);
  if (closed_) return Error(Errc::runtime_closed, "defragmentation");
  for (const auto& [id, entry] : entries_) order.emplace_back(entry.offset, id);
  std::ranges::sort(order, std::greater<>());
  for (const auto& [offset, id] : order) {
    const auto found = entries_.find(id);
    if (found == entries_.end() || found->second.deallocated) continue;
    Entry& entry = found->second;
    if (!entry.unused()) {
      ++result.tensors_in_use;
      continue;
    }
    RK_TRY_VOID(move_up(lock, entry, result));
    if (closed_) return Error(Errc::runtime_closed, "defragmentation");
  }
  result.fragmentation_score = arena_.usage().fragmentation_score();
  return result;
}

Result<void> TensorTable::move_up(Lock& lock, Entry& entry, Defragmentation& result) {
  entry.host_only = true;
  std::uint64_t moved_to = entry.offset;
  const ScopeGuard ended([&]() noexcept {  // where it is by now, also after an error
    if (moved_to != entry.offset) {
      ++result.tensors_moved;
      result.bytes_moved += entry.desc.bytes();
    }
    entry.offset = moved_to;
    entry.host_only = false;
    bury_if_unused(lock, entry);
  });
  const Copying copying(*this, lock);
  return raise(moved_to, entry.desc.bytes());
}

Result<void> TensorTable::raise(std::uint64_t& offset, std::uint64_t bytes) {
  RK_TRY_VOID(to_host(offset, bytes));
  offset = arena_.raise(offset, bytes);
  return to_device(offset, bytes);
}

void TensorTable::close() {
  Lock lock(mutex_);
  closed_ = true;
  copied_.notify_all();
  copied_.wait(lock, [this] { return copies_ == 0; });
}

std::size_t TensorTable::count() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::uint64_t TensorTable::bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_;
}

}  // namespace ringkernel
