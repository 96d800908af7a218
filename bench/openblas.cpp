#include <cblas.h>

#include "ops_baselines.hpp"

namespace bench {

void openblas_matmul(const float* a, const float* b, float* c, int n) {
  openblas_set_num_threads(1);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1.0f, a, n, b, n, 0.0f, c, n);
}

}  // namespace bench
