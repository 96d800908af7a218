/// Shared by the tests of the MIND runtime.
#pragma once

#include <string>
#include <vector>

#include "ringkernel/mind_runtime.hpp"

namespace ringkernel::test {

inline MindRuntime open_mind(std::string backend, MindOptions options = {}) {
  options.backend = std::move(backend);
  return MindRuntime::open(BackendTarget::automatic, std::move(options)).value();
}

inline Tensor filled(MindRuntime& runtime, const Shape& shape, const std::vector<float>& elements) {
  Tensor tensor = runtime.allocate({DType::f32, shape}).value();
  runtime.write(tensor, elements).value();
  return tensor;
}

inline std::vector<float> contents(MindRuntime& runtime, const Tensor& tensor) {
  std::vector<float> elements(tensor.desc().element_count());
  runtime.read(tensor, elements).value();
  return elements;
}

}  // namespace ringkernel::test
