// What a program finds that has an environment, rights and a place of its own: prints the library,
// or the error. Exit code 1: none was found.
#include <unistd.h>

#include <cstdio>

#include "ringkernel/mlir.hpp"

int main(int count, char** arguments) {
  const auto found = ringkernel::mlir::find_library(count > 1 ? arguments[1] : "");
  if (!found.has_value()) {
    std::printf("as user %u: %s\n", geteuid(), found.error().text().c_str());
    return 1;
  }
  std::printf("found %s %u.%u.%u as user %u\n", found->path.c_str(), found->major, found->minor,
              found->patch, geteuid());
  return 0;
}
