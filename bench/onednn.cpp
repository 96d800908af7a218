#include <dnnl.hpp>
#include <memory>
#include <vector>

#include "ops_baselines.hpp"

namespace bench {
namespace {

using Desc = dnnl::memory::desc;
using Tag = dnnl::memory::format_tag;
constexpr auto f32 = dnnl::memory::data_type::f32;

dnnl::convolution_forward::primitive_desc choose(const OnednnConv2d::Sizes& sizes,
                                                 const dnnl::engine& engine) {
  const dnnl::memory::dim pad_before = (sizes.filter - 1) / 2;
  const dnnl::memory::dim pad_after = sizes.filter - 1 - pad_before;
  const dnnl::convolution_forward::desc wanted(
      dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_auto,
      Desc({1, sizes.channels, sizes.rows, sizes.columns}, f32, Tag::any),
      Desc({sizes.outputs, sizes.channels, sizes.filter, sizes.filter}, f32, Tag::any),
      Desc({1, sizes.outputs, sizes.rows, sizes.columns}, f32, Tag::any), {1, 1},
      {pad_before, pad_before}, {pad_after, pad_after});
  return {wanted, engine};
}

}  // namespace

struct OnednnConv2d::State {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::convolution_forward::primitive_desc chosen;
  dnnl::convolution_forward convolution;
  dnnl::memory images, filter, output;              // as the user has them
  dnnl::memory own_images, own_filter, own_output;  // as oneDNN wants them

  explicit State(const Sizes& sizes)
      : chosen(choose(sizes, engine)),
        convolution(chosen),
        images(Desc({1, sizes.channels, sizes.rows, sizes.columns}, f32, Tag::nhwc), engine),
        filter(Desc({sizes.outputs, sizes.channels, sizes.filter, sizes.filter}, f32, Tag::hwio),
               engine),
        output(Desc({1, sizes.outputs, sizes.rows, sizes.columns}, f32, Tag::nhwc), engine),
        own_images(beside(images, chosen.src_desc())),
        own_filter(beside(filter, chosen.weights_desc())),
        own_output(beside(output, chosen.dst_desc())) {}

  /// The same memory if oneDNN takes that layout.
  [[nodiscard]] dnnl::memory beside(const dnnl::memory& given, const Desc& wanted) const {
    return given.get_desc() == wanted ? given : dnnl::memory(wanted, engine);
  }
  void reorder(dnnl::memory& from, dnnl::memory& to) {
    if (from.get() != to.get()) dnnl::reorder(from, to).execute(stream, from, to);
  }
};

OnednnConv2d::OnednnConv2d(const Sizes& sizes, const float* images, const float* filter)
    : state_(new State(sizes)) {
  const auto fill = [](dnnl::memory& memory, const float* from) {
    auto* to = static_cast<float*>(memory.get_data_handle());
    std::copy_n(from, memory.get_desc().get_size() / sizeof(float), to);
  };
  fill(state_->images, images);
  fill(state_->filter, filter);
}

OnednnConv2d::~OnednnConv2d() { delete state_; }

void OnednnConv2d::run() {
  State& state = *state_;
  state.reorder(state.images, state.own_images);
  state.reorder(state.filter, state.own_filter);
  state.convolution.execute(state.stream, {{DNNL_ARG_SRC, state.own_images},
                                           {DNNL_ARG_WEIGHTS, state.own_filter},
                                           {DNNL_ARG_DST, state.own_output}});
  state.reorder(state.own_output, state.output);
  state.stream.wait();
}

std::span<const float> OnednnConv2d::output() const {
  return {static_cast<const float*>(state_->output.get_data_handle()),
          state_->output.get_desc().get_size() / sizeof(float)};
}

}  // namespace bench
