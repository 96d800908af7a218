/// The files of corpus/: small modules, and behind each, as comments, what goes in and what numpy
/// says must come out (answers.py).
///
/// Threading: any thread.
#pragma once

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "ringkernel/ringkernel.hpp"

namespace ringkernel::mlir::test {

/// A tensor with its elements.
struct Elements {
  TensorDesc desc;
  std::vector<std::byte> bytes;

  [[nodiscard]] TensorView view() const noexcept { return {desc, bytes.data()}; }
};

struct CorpusFile {
  std::string name;
  std::string text;
  std::vector<Elements> inputs;
  std::vector<Elements> outputs;
};

namespace detail {

template <Element T>
void put(Elements& elements, const std::string& word) {
  T element{};
  if constexpr (std::is_same_v<T, float>)
    element = std::strtof(word.c_str(), nullptr);
  else
    element = static_cast<T>(std::strtoll(word.c_str(), nullptr, 10));
  const auto* const bytes = reinterpret_cast<const std::byte*>(&element);
  elements.bytes.insert(elements.bytes.end(), bytes, bytes + sizeof element);
}

/// Of "f32[2,3]".
inline TensorDesc desc_of(const std::string& word) {
  std::vector<std::int64_t> dims;
  std::string list = word.substr(4, word.size() - 5);
  for (char& letter : list)
    if (letter == ',') letter = ' ';
  std::istringstream extents(list);
  for (std::int64_t extent = 0; extents >> extent;) dims.push_back(extent);
  const DType dtype = word.starts_with("f32")   ? DType::f32
                      : word.starts_with("i32") ? DType::i32
                                                : DType::i64;
  return {dtype, Shape::make(dims).value()};
}

}  // namespace detail

inline CorpusFile corpus_file(const std::string& name) {
  std::ifstream stream(std::string(RK_MLIR_CORPUS "/") + name + ".mlir");
  CorpusFile file{name, {std::istreambuf_iterator<char>(stream), {}}, {}, {}};
  std::istringstream lines(file.text);
  std::vector<Elements>* list = nullptr;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    if (line.starts_with("// in ") || line.starts_with("// out ")) {
      list = line.starts_with("// in ") ? &file.inputs : &file.outputs;
      words >> word >> word >> word;
      list->push_back({detail::desc_of(word), {}});
    } else if (list != nullptr) {
      words >> word;  // the two strokes
    }
    if (list == nullptr) continue;
    while (words >> word) {
      Elements& elements = list->back();
      switch (elements.desc.dtype) {
        case DType::i32: detail::put<std::int32_t>(elements, word); break;
        case DType::i64: detail::put<std::int64_t>(elements, word); break;
        default: detail::put<float>(elements, word); break;
      }
    }
  }
  return file;
}

/// Their names without the ending, in order.
inline std::vector<std::string> corpus_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(RK_MLIR_CORPUS))
    if (entry.path().extension() == ".mlir") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

/// Whether that version of MLIR reads it: NAME.19 is for 19.
inline bool is_for(const std::string& name, unsigned major) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos || name.substr(dot + 1) == std::to_string(major);
}

}  // namespace ringkernel::mlir::test
