// The C++ front: a product of column-major float matrices (tf32), and a refusal that is thrown.
#include <cstdio>
#include <cstring>
#include <tilewright.hpp>
#include <vector>

int main() {
  const int m = 24, n = 40, k = 64;
  std::vector<float> a(m * k), b(k * n), d(m * n, -1.0f);
  for (int i = 0; i < m * k; ++i) a[i] = static_cast<float>(i * 7 % 5 - 2);
  for (int i = 0; i < k * n; ++i) b[i] = static_cast<float>(i * 11 % 3 - 1);
  const auto a_view = tw::MatrixView::row_major(a.data(), m, k, TW_TF32);
  const auto b_view = tw::MatrixView::column_major(b.data(), k, n, TW_TF32);
  const auto d_view = tw::MatrixView::row_major(d.data(), m, n, TW_FP32);
  auto problem = tw::initial<tw_matmul_problem>();
  problem.m = m, problem.n = n, problem.k = k;
  problem.a = a_view, problem.b = b_view, problem.d = d_view;
  problem.epilogue.alpha = 0.5f;
  try {
    tw::check_shapes(problem, {{"A", a_view}, {"B", b_view}, {"D", d_view}});
    tw::simulate(problem);
    for (int row = 0; row < m; ++row) {
      for (int column = 0; column < n; ++column) {
        float sum = 0.0f;
        for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[column * k + i];
        if (d[row * n + column] != 0.5f * sum) {
          std::fprintf(stderr, "D(%d, %d) is wrong.\n", row, column);
          return 1;
        }
      }
    }
    std::printf("exact on the virtual GPU; ");
  } catch (const tw::Error& error) {
    if (error.status() != TW_UNSUPPORTED ||
        std::strstr(error.what(), "no virtual GPU") == nullptr) {
      std::fprintf(stderr, "status %d: %s\n", error.status(), error.what());
      return 1;
    }
    std::printf("%s ", error.what());
  }
  try {
    tw::check_shapes(problem, {{"A", a_view}, {"B", b_view.transposed()}, {"D", d_view}});
  } catch (const tw::Error& error) {
    std::printf("refused: %s\n", error.what());
    const char* expected = "The extents of B are 40 x 64, but must be 64 x 40.";
    return error.status() == TW_INVALID && std::strcmp(error.what(), expected) == 0 ? 0 : 1;
  }
  std::fprintf(stderr, "Shapes that do not fit were not refused.\n");
  return 1;
}
