// Tensors on the device, for C.
#include "capi/objects.hpp"
#include "capi/requests.hpp"

namespace ringkernel::capi {
namespace {

Result<void> create(const std::shared_ptr<RingKernelRuntime>& runtime,
                    const ringkernel_tensor* given, ringkernel_resident** out_resident) {
  if (given == nullptr) return null_argument("tensor");
  if (out_resident == nullptr) return null_argument("out_resident");
  const Place place{"tensor"};
  RK_TRY(desc, to_desc(*given, place));
  auto object = std::make_shared<ResidentObject>();
  object->runtime = runtime;
  RK_TRY(tensor, runtime->allocate(desc));
  object->tensor = tensor;
  if (given->data != nullptr) {
    RK_TRY(elements, read_elements(*given, place));
    RK_TRY_VOID(with_elements(elements, [&](auto typed) { return object->tensor.write(typed); }));
  }
  *out_resident = Residents::table().add(std::move(object));
  return {};
}

template <class Body>
ringkernel_status with_resident(const ringkernel_resident* handle, Body&& body) noexcept {
  return guarded([&]() -> Result<void> {
    RK_TRY(object, Residents::table().find(handle, "resident"));
    return body(*object);
  });
}

}  // namespace
}  // namespace ringkernel::capi

// NOLINTBEGIN: the names of the C API
using namespace ringkernel;
using namespace ringkernel::capi;

ringkernel_status ringkernel_resident_create(ringkernel_runtime* handle,
                                             const ringkernel_tensor* tensor,
                                             ringkernel_resident** out_resident) {
  return with_runtime(handle,
                      [&](const auto& runtime) { return create(runtime, tensor, out_resident); });
}

ringkernel_status ringkernel_resident_write(ringkernel_resident* resident,
                                            const ringkernel_tensor* elements,
                                            uint64_t timeout_ns) {
  return with_resident(resident, [&](ResidentObject& object) -> Result<void> {
    if (elements == nullptr) return null_argument("elements");
    RK_TRY(given, read_elements(*elements, {"elements"}));
    return with_elements(
        given, [&](auto typed) { return object.tensor.write(typed, to_duration(timeout_ns)); });
  });
}

ringkernel_status ringkernel_resident_read(ringkernel_resident* resident, uint64_t timeout_ns,
                                           ringkernel_tensor* result) {
  return with_resident(resident, [&](ResidentObject& object) {
    return read_into(object.tensor.desc(), result, [&](std::span<std::byte> bytes) {
      return object.tensor.read(bytes, to_duration(timeout_ns));
    });
  });
}

ringkernel_status ringkernel_resident_close(ringkernel_resident* resident) {
  return guarded([&]() -> Result<void> {
    RK_TRY_VOID(Residents::table().remove(resident, "resident"));
    return {};
  });
}
// NOLINTEND
