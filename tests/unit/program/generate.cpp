// generate BFBS FBS FOLDER: writes the texts that a device program gets from a schema.
#include <fstream>
#include <iostream>
#include <iterator>

#include "program/schema.hpp"

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int main(int, char** argv) {
  using namespace ringkernel::program;
  const std::string bfbs = read(argv[1]);
  const std::string path = argv[2];
  const std::string folder = std::string(argv[3]) + "/";
  const SchemaSource source{path.substr(path.rfind('/') + 1), find_lines(read(path))};
  const auto schema = Schema::from_binary(std::as_bytes(std::span(bfbs)), source);
  if (!schema) {
    std::cerr << schema.error().text() << '\n';
    return 1;
  }
  std::ofstream(folder + schema->header_name()) << schema->device_header();
  std::ofstream(folder + schema->header_name() + ".dispatch") << schema->device_dispatch();
}
