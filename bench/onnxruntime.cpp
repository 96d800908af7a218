#include "onnxruntime.hpp"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "choose_work.hpp"
#include "onnx_model.hpp"

namespace bench {
namespace {

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
constexpr int log_errors = 3, optimize_all = 99, device_allocator = 0, default_memory = 0,
              element_float = 1;

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

/// At its best: one thread, every optimisation, inputs and outputs made once.
class OrtRunner : public Runner {
 public:
  explicit OrtRunner(const Work& work)
      : model_(make_onnx_model(work)), inputs_(work.inputs), out_(work.expected.size()) {
    OrtObject options(table_, OrtEntry::release_session_options);
    OrtObject memory(table_, OrtEntry::release_memory_info);
    table_.call(OrtEntry::create_env, log_errors, "choose", env_.out());
    table_.call(OrtEntry::create_session_options, options.out());
    table_.call(OrtEntry::set_optimization_level, options.get(), optimize_all);
    table_.call(OrtEntry::set_intra_op_threads, options.get(), 1);
    table_.call(OrtEntry::set_inter_op_threads, options.get(), 1);
    table_.call(OrtEntry::create_session_from_array, env_.get(), model_.bytes.data(),
                model_.bytes.size(), options.get(), session_.out());
    table_.call(OrtEntry::create_cpu_memory_info, device_allocator, default_memory, memory.out());
    const auto make_value = [&](std::vector<float>& values, const std::vector<std::int64_t>& shape,
                                OrtObject& value) {
      table_.call(OrtEntry::create_tensor_with_data, memory.get(), values.data(),
                  values.size() * sizeof(float), shape.data(), shape.size(), element_float,
                  value.out());
    };
    make_value(inputs_.front(), onnx_input_shape(work), x0_);
    if (work.is_sum()) make_value(inputs_.back(), onnx_input_shape(work), x1_);
    make_value(out_, onnx_output_shape(work), y_);
  }
  void run() override {
    static constexpr std::array input_names{"x0", "x1"};
    const std::array output_names{model_.output.c_str()};
    const std::array inputs{x0_.get(), x1_.get()};
    void* output = y_.get();
    const void* const run_options = nullptr;
    table_.call(OrtEntry::run, session_.get(), run_options, input_names.data(), inputs.data(),
                inputs_.size(), output_names.data(), output_names.size(), &output);
  }
  [[nodiscard]] std::span<const float> output() const override { return out_; }

 private:
  OrtTable table_;
  OnnxModel model_;
  std::vector<std::vector<float>> inputs_;
  std::vector<float> out_;
  OrtObject env_{table_, OrtEntry::release_env};
  OrtObject session_{table_, OrtEntry::release_session};
  OrtObject x0_{table_, OrtEntry::release_value};
  OrtObject x1_{table_, OrtEntry::release_value};
  OrtObject y_{table_, OrtEntry::release_value};
};

}  // namespace

OnnxruntimeState find_onnxruntime() {
  OnnxruntimeState state;
  if (const OrtBase* const base = open_ort(state.reason); base != nullptr)
    state.version = base->get_version();
  return state;
}

std::unique_ptr<Runner> make_onnxruntime(const Work& work) {
  return std::make_unique<OrtRunner>(work);
}

}  // namespace bench
