// Networks of ONNX as a whole against the same networks node by node: whichever order of dims the
// values between the nodes have, the numbers are the same.
#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "support/backends.hpp"
#include "vectors/onnx_network.hpp"

namespace ringkernel::onnx {
namespace {

using test::any_floats;
using test::attribute;
using test::Known;
using test::Message;
using test::Network;
using test::Part;
using test::tensor;

class OnnxLayoutOn : public ringkernel::test::OnEachBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, OnnxLayoutOn,
                         ::testing::ValuesIn(ringkernel::test::backend_names()),
                         ringkernel::test::backend_label);

class Maker {
 public:
  Maker(RingKernelRuntime& runtime, unsigned seed) : runtime_(runtime), random_(seed) {
    const bool is_line = seed % 2 == 0;
    Known x{"x",
            is_line ? std::vector<std::int64_t>{1, 3, 20} : std::vector<std::int64_t>{2, 3, 6, 5},
            {}};
    x.elements = any_floats(is_line ? 60 : 180, random_);
    whole_.input(x);
    values_.push_back(std::move(x));
  }

  void grow() {
    const Known& x = values_[values_.size() - 1 - below(std::min<std::size_t>(values_.size(), 3))];
    const std::string name = "v" + std::to_string(values_.size());
    Part part = any_part(x, name);
    Network alone;
    for (const Known& value : values_)
      if (std::ranges::find(part.inputs, value.name) != part.inputs.end()) alone.input(value);
    alone.add(part, name);
    alone.output(name);
    const auto result = alone.run(runtime_);
    ASSERT_TRUE(result) << part.op << ": " << result.error().text();
    const TensorView output = result->output(0);
    const auto dims = output.desc.shape.dims();
    const auto elements = result->elements<float>(0);
    whole_.add(part, name);
    ops_ += (ops_.empty() ? "" : " ") + part.op;
    values_.push_back({name, {dims.begin(), dims.end()}, {elements.begin(), elements.end()}});
  }

  void compare() {
    whole_.output(values_.back().name);
    whole_.output(values_[values_.size() / 2].name);
    const auto result = whole_.run(runtime_);
    ASSERT_TRUE(result) << ops_ << ": " << result.error().text();
    for (std::size_t i = 0; i < 2; ++i) {
      const Known& want = i == 0 ? values_.back() : values_[values_.size() / 2];
      const TensorView output = result->output(i);
      ASSERT_TRUE(std::ranges::equal(output.desc.shape.dims(), want.dims)) << ops_;
      const auto got = result->elements<float>(i);
      for (std::size_t at = 0; at < got.size(); ++at)
        ASSERT_NEAR(got[at], want.elements[at], 1e-5 * (1 + std::abs(want.elements[at])))
            << ops_ << "; output " << i << ", element " << at;
    }
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  /// A tensor of the file, with the name of the node and one of its own.
  Message weights(const std::string& name, const std::vector<std::int64_t>& dims) {
    const auto count =
        std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>());
    return tensor({name, dims, any_floats(static_cast<std::size_t>(count), random_)});
  }

  static Message ones_of(const std::string& name, std::int64_t count) {
    return tensor({name, {count}, std::vector<float>(static_cast<std::size_t>(count), 1)});
  }

  static bool alike_but(const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                        std::int64_t axis) {
    for (std::size_t dim = 0; dim < a.size(); ++dim)
      if (dim != static_cast<std::size_t>(axis) && a[dim] != b[dim]) return false;
    return true;
  }

  Part convolution(const Known& x, const std::string& name) {
    const auto outputs = static_cast<std::int64_t>(1 + below(4));
    std::vector<std::int64_t> dims{outputs, x.dims[1]};
    for (std::size_t dim = 2; dim < x.dims.size(); ++dim)
      dims.push_back(x.dims[dim] < 2 ? 1 : static_cast<std::int64_t>(1 + below(2)));
    return {"Conv",
            {x.name, name + ".w", name + ".b"},
            {},
            {weights(name + ".w", dims), weights(name + ".b", {outputs})}};
  }

  /// One filter for each channel, or two for each of two groups.
  Part grouped_convolution(const Known& x, const std::string& name) {
    const std::int64_t channels = x.dims[1];
    const bool has_halves = channels % 2 == 0 && below(2) == 0;
    std::vector<std::int64_t> dims{has_halves ? 4 : channels, has_halves ? channels / 2 : 1};
    for (std::size_t dim = 2; dim < x.dims.size(); ++dim)
      dims.push_back(x.dims[dim] < 2 ? 1 : static_cast<std::int64_t>(1 + below(2)));
    return {"Conv",
            {x.name, name + ".w"},
            {test::integer_attribute("group", has_halves ? 2 : channels)},
            {weights(name + ".w", dims)}};
  }

  Part pool(const Known& x) {
    std::vector<std::int64_t> extents, pads(2 * (x.dims.size() - 2), 0);
    for (std::size_t dim = 2; dim < x.dims.size(); ++dim) {
      extents.push_back(static_cast<std::int64_t>(1 + below(3)));
      pads[dim - 2] = extents.back() - 1;
    }
    std::ranges::fill(std::span(pads).last(extents.size()), 1);
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      if (extents[axis] < 2) pads[axis + extents.size()] = 0;
    return {below(2) == 0 ? "MaxPool" : "AveragePool",
            {x.name},
            {attribute("kernel_shape", extents), attribute("pads", pads)},
            {}};
  }

  Part any_part(const Known& x, const std::string& name) {
    const std::size_t rank = x.dims.size();
    const auto ones = static_cast<std::int64_t>(rank) - 2;
    const auto any_axis = static_cast<std::int64_t>(below(rank));
    switch (below(19)) {
      case 0: return {"Relu", {x.name}, {}, {}};
      case 1: return {"Sigmoid", {x.name}, {}, {}};
      case 2: {  // one number for each channel
        std::vector<std::int64_t> dims{x.dims[1]};
        dims.insert(dims.end(), static_cast<std::size_t>(ones), 1);
        return {"Mul", {x.name, name + ".w"}, {}, {weights(name + ".w", dims)}};
      }
      case 3: {
        for (const Known& other : values_)
          if (other.dims == x.dims && other.name != x.name)
            return {"Add", {other.name, x.name}, {}, {}};
        return {"Add", {x.name, x.name}, {}, {}};
      }
      case 8: {  // scale, shift, mean; the variance is not below 0
        const std::string parameters[] = {".s", ".b", ".m", ".v"};
        Part part{"BatchNormalization", {x.name}, {}, {}};
        for (const std::string& suffix : parameters) {
          part.inputs.push_back(name + suffix);
          part.tensors.push_back(suffix == ".v" ? ones_of(name + suffix, x.dims[1])
                                                : weights(name + suffix, {x.dims[1]}));
        }
        return part;
      }
      case 9: return {"Softmax", {x.name}, {test::integer_attribute("axis", any_axis)}, {}};
      case 10:
        return {"ReduceMax",
                {x.name},
                {attribute("axes", {any_axis}), test::integer_attribute("keepdims", 1)},
                {}};
      case 11: {
        const Known& other = values_[below(values_.size())];
        const bool fits = other.dims.size() == rank && alike_but(other.dims, x.dims, any_axis);
        return {"Concat",
                {x.name, fits ? other.name : x.name},
                {test::integer_attribute("axis", any_axis)},
                {}};
      }
      case 12: return {"Clip", {x.name, name + ".l"}, {}, {tensor({name + ".l", {}, {-0.5f}})}};
      case 13: return {"HardSwish", {x.name}, {}, {}};
      case 4: {
        const std::size_t axis = below(rank);
        if (x.dims[axis] == 1) return {"Neg", {x.name}, {}, {}};
        return {"Slice",
                {x.name, name + ".s", name + ".e", name + ".a"},
                {},
                {test::integers(name + ".s", {1}), test::integers(name + ".e", {9}),
                 test::integers(name + ".a", {static_cast<std::int64_t>(axis)})}};
      }
      case 5: {
        const std::size_t axis = below(rank);
        std::vector<std::int64_t> pads(2 * rank, 0);
        pads[axis] = 1;
        return {
            "Pad",
            {x.name, name + ".p"},
            {Message().text(1, "mode").text(4, below(2) == 0 ? "edge" : "constant").number(20, 3)},
            {test::integers(name + ".p", pads)}};
      }
      case 6: {
        std::vector<std::int64_t> permutation(rank);
        std::iota(permutation.begin(), permutation.end(), 0);
        std::shuffle(permutation.begin(), permutation.end(), random_);
        return {"Transpose", {x.name}, {attribute("perm", permutation)}, {}};
      }
      case 7:
        return {"ReduceMean",
                {x.name},
                {attribute("axes", {2}), test::integer_attribute("keepdims", 1)},
                {}};
      case 14: return {below(2) == 0 ? "GlobalMaxPool" : "GlobalAveragePool", {x.name}, {}, {}};
      case 15: return pool(x);
      case 16: return grouped_convolution(x, name);
      default: return convolution(x, name);
    }
  }

  RingKernelRuntime& runtime_;
  std::mt19937 random_;
  Network whole_;
  std::vector<Known> values_;
  std::string ops_;
};

TEST_P(OnnxLayoutOn, GivesWhatItsNodesGiveOneByOne) {
  auto runtime = open();
  for (unsigned seed = 0; seed < 40 && !HasFatalFailure(); ++seed) {
    Maker maker(runtime, seed);
    for (int node = 0; node < 12 && !HasFatalFailure(); ++node) maker.grow();
    if (!HasFatalFailure()) maker.compare();
  }
}

}  // namespace
}  // namespace ringkernel::onnx
