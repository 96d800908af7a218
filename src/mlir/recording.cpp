#include "mlir/recording.hpp"

#include <array>
#include <cstring>
#include <optional>
#include <type_traits>
#include <vector>

namespace ringkernel::mlir {
namespace {

/// What was called. The name of the graph comes first.
enum class Call : std::uint8_t { input = 1, state, constant, add, update, output };

template <class T>
void write(std::string& bytes, const T& value) {
  static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>);
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void write(std::string& bytes, std::string_view text) {
  write(bytes, static_cast<std::uint64_t>(text.size()));
  bytes.append(text);
}

void write(std::string& bytes, const TensorDesc& desc) {
  write(bytes, desc.dtype);
  write(bytes, static_cast<std::uint8_t>(desc.shape.rank()));
  for (const std::uint32_t extent : desc.shape.dims()) write(bytes, extent);
}

void write(std::string& bytes, const IntList& list) {
  write(bytes, static_cast<std::uint8_t>(list.values().size()));
  for (const std::int64_t number : list.values()) write(bytes, number);
}

void write(std::string& bytes, const SliceRanges& ranges) {
  for (const IntList* list : {&ranges.starts, &ranges.ends, &ranges.steps}) write(bytes, *list);
}

/// Takes values from the front. Where there are too few bytes it has failed, and gives zeros.
class Source {
 public:
  explicit Source(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool has_failed() const noexcept { return failed_; }
  [[nodiscard]] bool is_at_end() const noexcept { return rest_.empty(); }

  std::string_view take_bytes(std::uint64_t count) {
    if (count > rest_.size()) {
      failed_ = true;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  template <class T>
  void read(T& value) {
    const std::string_view taken = take_bytes(sizeof value);
    if (!failed_) std::memcpy(&value, taken.data(), sizeof value);
  }
  template <class T>
  T take() {
    T value{};
    read(value);
    return value;
  }
  /// Of a dim, an operand or a number in a list: more than 8 have failed.
  std::uint8_t take_count() {
    const auto count = take<std::uint8_t>();
    if (count > rank_max) failed_ = true;
    return failed_ ? std::uint8_t{0} : count;
  }
  void read(IntList& list) {
    const std::uint8_t count = take_count();
    for (std::uint8_t i = 0; i < count; ++i) list.push_back(take<std::int64_t>());
  }
  void read(SliceRanges& ranges) {
    for (IntList* const list : {&ranges.starts, &ranges.ends, &ranges.steps}) read(*list);
  }
  void read(bool& flag) { flag = take<std::uint8_t>() != 0; }
  std::string_view take_text() { return take_bytes(take<std::uint64_t>()); }

 private:
  std::string_view rest_;
  bool failed_ = false;
};

Error malformed() { return {Errc::malformed_message, "the bytes are no recording of a graph"}; }

/// Makes the calls again.
class Player {
 public:
  explicit Player(std::string_view bytes)
      : source_(bytes), graph_(std::string(source_.take_text())) {}

  Result<Graph> play() {
    while (!source_.is_at_end() && !source_.has_failed()) {
      switch (source_.take<Call>()) {
        case Call::input: values_.push_back(graph_.input(take_desc())); break;
        case Call::state: values_.push_back(graph_.state(take_desc())); break;
        case Call::constant: RK_TRY_VOID(constant()); break;
        case Call::add: RK_TRY_VOID(add()); break;
        case Call::update: {
          RK_TRY(state, take_value());
          RK_TRY(next, take_value());
          graph_.update(state, next);
          break;
        }
        case Call::output: {
          RK_TRY(value, take_value());
          graph_.output(value);
          break;
        }
        default: return malformed();
      }
      if (source_.has_failed()) return malformed();
      RK_TRY_VOID(graph_.status());
    }
    if (source_.has_failed()) return malformed();
    return std::move(graph_);
  }

 private:
  TensorDesc take_desc() {
    TensorDesc desc;
    source_.read(desc.dtype);
    std::vector<std::int64_t> dims;
    const std::uint8_t rank = source_.take_count();
    for (std::uint8_t dim = 0; dim < rank; ++dim) dims.push_back(source_.take<std::uint32_t>());
    const auto shape = Shape::make(dims);
    desc.shape = shape ? *shape : Shape();
    if (!shape) desc.dtype = DType::none;  // which no graph takes
    return desc;
  }

  Result<Graph::Value> take_value() {
    const auto number = source_.take<std::uint32_t>();
    if (source_.has_failed() || number >= values_.size()) return malformed();
    return values_[number];
  }

  Result<void> constant() {
    const TensorDesc desc = take_desc();
    const std::string_view elements = source_.take_text();
    if (source_.has_failed() || desc.dtype == DType::none || elements.size() != desc.bytes())
      return malformed();
    values_.push_back(graph_.constant(TensorView(desc, elements.data())));
    return {};
  }

  Result<void> add() {
    Request request;
    source_.read(request.op);
    const std::uint8_t count = source_.take_count();
    if (count > request.inputs.size()) return malformed();
    request.input_count = count;
    for (std::uint8_t i = 0; i < count; ++i) {
      RK_TRY(operand, take_value());
      request.inputs[i] = operand;
    }
#define RK_ATTRIBUTE(kind, field, initial, text, rules) source_.read(request.attributes.field);
#include "ringkernel/protocol/attrs.def"
    if (source_.has_failed()) return malformed();
    values_.push_back(graph_.add(request));
    return {};
  }

  Source source_;
  Graph graph_;
  std::vector<Graph::Value> values_;
};

}  // namespace

template <class... Parts>
void Recording::write_down(const Parts&... parts) {
  if (bytes_ != nullptr) (write(*bytes_, parts), ...);
}

Recording::Recording(Graph& graph, std::string* bytes) : graph_(graph), bytes_(bytes) {
  write_down(std::string_view(graph.name()));
}

Graph::Value Recording::numbered(const Graph::Value& value) {
  const auto number = static_cast<std::uint32_t>(numbers_.size());
  numbers_.emplace(TensorView(value).tensor, number);
  return value;
}

void Recording::write_value(const TensorView& value) {
  const auto number = numbers_.find(value.tensor);
  write_down(number == numbers_.end() ? ~std::uint32_t{0} : number->second);
}

Graph::Value Recording::input(const TensorDesc& desc) {
  write_down(Call::input, desc);
  return numbered(graph_.input(desc));
}

Graph::Value Recording::state(const TensorDesc& desc) {
  write_down(Call::state, desc);
  return numbered(graph_.state(desc));
}

Graph::Value Recording::constant(const TensorView& elements) {
  write_down(Call::constant, elements.desc,
             std::string_view(static_cast<const char*>(elements.data), elements.desc.bytes()));
  return numbered(graph_.constant(elements));
}

Graph::Value Recording::add(const Request& request) {
  write_down(Call::add, request.op, static_cast<std::uint8_t>(request.input_count));
  for (std::uint32_t i = 0; i < request.input_count; ++i) write_value(request.inputs[i]);
#define RK_ATTRIBUTE(kind, field, initial, text, rules) write_down(request.attributes.field);
#include "ringkernel/protocol/attrs.def"
  return numbered(graph_.add(request));
}

void Recording::update(const Graph::Value& state, const Graph::Value& next) {
  write_down(Call::update);
  write_value(state);
  write_value(next);
  graph_.update(state, next);
}

void Recording::output(const Graph::Value& value) {
  write_down(Call::output);
  write_value(value);
  graph_.output(value);
}

Result<Graph> replayed(std::string_view bytes) { return Player(bytes).play(); }

}  // namespace ringkernel::mlir
