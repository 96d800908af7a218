#include "onnxruntime.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "choose_work.hpp"
#include "onnx_model.hpp"

namespace bench {
namespace ort {  // named, because a session has members of these types

/// What the library's one exported function returns.
struct OrtBase {
  const void* const* (*get_table)(std::uint32_t version);
  const char* (*get_version)();
};

/// Places in the table of version 1 of the C interface, which later versions only append to. The
/// wheel has no header; these are from include/onnxruntime/core/session/onnxruntime_c_api.h.
enum class OrtEntry : std::size_t {
  get_error_message = 2,
  create_env = 3,
  create_session_from_array = 8,
  run = 9,
  create_session_options = 10,
  set_optimization_level = 23,
  set_intra_op_threads = 24,
  set_inter_op_threads = 25,
  create_tensor_with_data = 49,
  create_cpu_memory_info = 69,
  release_env = 92,
  release_memory_info = 94,
  release_session = 95,
  release_value = 96,
  release_session_options = 100,
};
constexpr std::uint32_t ort_version = 1;
constexpr int log_errors = 3, optimize_all = 99, device_allocator = 0, default_memory = 0;

/// Of an element in the C interface.
int element_type(ringkernel::DType dtype) {
  switch (dtype) {
    case ringkernel::DType::f32: return 1;
    case ringkernel::DType::i32: return 6;
    case ringkernel::DType::i64: return 7;
    case ringkernel::DType::none: break;
  }
  throw std::runtime_error("no elements");
}

/// Null: `reason` says why.
const OrtBase* open_ort(std::string& reason) {
  const char* const file = std::getenv("RINGKERNEL_ONNXRUNTIME");
  if (file == nullptr || *file == '\0') {
    reason = "RINGKERNEL_ONNXRUNTIME names no library; ./rk bench choose fetches one";
    return nullptr;
  }
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  void* const entry = library == nullptr ? nullptr : dlsym(library, "OrtGetApiBase");
  if (entry != nullptr) return reinterpret_cast<const OrtBase* (*)()>(entry)();
  reason = dlerror();
  return nullptr;
}

class OrtTable {
 public:
  OrtTable() {
    std::string reason;
    const OrtBase* const base = open_ort(reason);
    if (base == nullptr) throw std::runtime_error(reason);
    table_ = base->get_table(ort_version);
  }
  /// The types of the arguments have to be those of the C interface.
  template <class... Args>
  void call(OrtEntry entry, Args... args) const {
    const void* const status = function<void*(Args...)>(entry)(args...);
    if (status == nullptr) return;
    throw std::runtime_error(
        std::string("onnxruntime: ") +
        function<const char*(const void*)>(OrtEntry::get_error_message)(status));
  }
  void release(OrtEntry entry, void* object) const { function<void(void*)>(entry)(object); }

 private:
  template <class Signature>
  [[nodiscard]] Signature* function(OrtEntry entry) const {
    return reinterpret_cast<Signature*>(const_cast<void*>(table_[static_cast<std::size_t>(entry)]));
  }

  const void* const* table_;
};

/// An object that its entry of the table releases.
class OrtObject {
 public:
  OrtObject(const OrtTable& table, OrtEntry release) : table_(table), release_(release) {}
  OrtObject(OrtObject&&) = delete;
  ~OrtObject() {
    if (object_ != nullptr) table_.release(release_, object_);
  }
  [[nodiscard]] void* get() const { return object_; }
  [[nodiscard]] void** out() { return &object_; }

 private:
  const OrtTable& table_;
  OrtEntry release_;
  void* object_ = nullptr;
};

}  // namespace ort

namespace {

/// A model of `choose`.
class OrtRunner : public Runner {
 public:
  explicit OrtRunner(const Work& work)
      : model_(make_onnx_model(work)), inputs_(work.inputs), out_(work.expected.size()) {
    std::vector<OnnxPlace> inputs;
    for (std::size_t i = 0; i < (work.is_sum() ? 2u : 1u); ++i)
      inputs.push_back({"x" + std::to_string(i), onnx_input_shape(work), inputs_[i]});
    session_.emplace(model_.bytes, inputs,
                     std::vector<OnnxPlace>{{model_.output, onnx_output_shape(work), out_}});
  }
  void run() override { session_->run(); }
  [[nodiscard]] std::span<const float> output() const override { return out_; }

 private:
  OnnxModel model_;
  std::vector<std::vector<float>> inputs_;
  std::vector<float> out_;
  std::optional<OnnxSession> session_;
};

}  // namespace

OnnxruntimeState find_onnxruntime() {
  OnnxruntimeState state;
  if (const ort::OrtBase* const base = ort::open_ort(state.reason); base != nullptr)
    state.version = base->get_version();
  return state;
}

struct OnnxSession::State {
  ort::OrtTable table;
  ort::OrtObject env{table, ort::OrtEntry::release_env};
  ort::OrtObject session{table, ort::OrtEntry::release_session};
  std::deque<ort::OrtObject> owners;
  std::vector<std::string> texts;
  std::vector<const char*> input_names, output_names;
  std::vector<void*> inputs, outputs;
};

OnnxSession::OnnxSession(std::span<const char> model, const std::vector<OnnxPlace>& inputs,
                         const std::vector<OnnxPlace>& outputs)
    : state_(std::make_unique<State>()) {
  using namespace ort;
  const OrtTable& table = state_->table;
  OrtObject options(table, OrtEntry::release_session_options);
  OrtObject memory(table, OrtEntry::release_memory_info);
  table.call(OrtEntry::create_env, log_errors, "bench", state_->env.out());
  table.call(OrtEntry::create_session_options, options.out());
  table.call(OrtEntry::set_optimization_level, options.get(), optimize_all);
  table.call(OrtEntry::set_intra_op_threads, options.get(), 1);
  table.call(OrtEntry::set_inter_op_threads, options.get(), 1);
  table.call(OrtEntry::create_session_from_array, state_->env.get(), model.data(), model.size(),
             options.get(), state_->session.out());
  table.call(OrtEntry::create_cpu_memory_info, device_allocator, default_memory, memory.out());
  state_->texts.reserve(inputs.size() + outputs.size());
  const auto add = [&](const OnnxPlace& place, std::vector<const char*>& names,
                       std::vector<void*>& values) {
    OrtObject& value = state_->owners.emplace_back(table, OrtEntry::release_value);
    const auto& [data, count, dtype] = place.elements;
    const std::size_t bytes = count * ringkernel::element_bytes(dtype);
    table.call(OrtEntry::create_tensor_with_data, memory.get(), data, bytes, place.shape.data(),
               place.shape.size(), element_type(dtype), value.out());
    names.push_back(state_->texts.emplace_back(place.name).c_str());
    values.push_back(value.get());
  };
  for (const OnnxPlace& place : inputs) add(place, state_->input_names, state_->inputs);
  for (const OnnxPlace& place : outputs) add(place, state_->output_names, state_->outputs);
}

OnnxSession::~OnnxSession() = default;

void OnnxSession::run() {
  const void* const run_options = nullptr;
  state_->table.call(ort::OrtEntry::run, state_->session.get(), run_options,
                     state_->input_names.data(), state_->inputs.data(), state_->inputs.size(),
                     state_->output_names.data(), state_->output_names.size(),
                     state_->outputs.data());
}

std::unique_ptr<Runner> make_onnxruntime(const Work& work) {
  return std::make_unique<OrtRunner>(work);
}

}  // namespace bench
