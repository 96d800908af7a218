/// The functions of OpenCL that the plain side uses, from the system's loader, opened at run time
/// so that the program also starts where there is none.
///
/// Threading: any thread, once constructed.
/// Ownership: the loader stays until the process ends.
/// Errors: a missing library or function throws `std::runtime_error`.
#pragma once

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace digits {

class OpenclFunctions {
  void* const library_ = open();

 public:
#define DIGITS_CL(name) decltype(&::name) const name = find<decltype(&::name)>(#name)
  DIGITS_CL(clGetPlatformIDs);
  DIGITS_CL(clGetDeviceIDs);
  DIGITS_CL(clGetDeviceInfo);
  DIGITS_CL(clCreateContext);
  DIGITS_CL(clCreateCommandQueueWithProperties);
  DIGITS_CL(clCreateProgramWithSource);
  DIGITS_CL(clBuildProgram);
  DIGITS_CL(clCreateKernel);
  DIGITS_CL(clCreateBuffer);
  DIGITS_CL(clSetKernelArg);
  DIGITS_CL(clEnqueueWriteBuffer);
  DIGITS_CL(clEnqueueNDRangeKernel);
  DIGITS_CL(clEnqueueReadBuffer);
#undef DIGITS_CL

 private:
  static void* open() {
    void* const library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    return library;
  }
  template <class Function>
  Function find(const char* name) const {
    void* const address = dlsym(library_, name);
    if (address == nullptr) throw std::runtime_error(std::string(name) + " is missing");
    return reinterpret_cast<Function>(address);
  }
};

}  // namespace digits
