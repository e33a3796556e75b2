// GoogleTest ends with 0 where every test was skipped, and CTest then counts the program as passed.
// This main names each test that was skipped and its reason (tools/test_summary.py reads the
// lines), and ends with 77, which CTest knows as skipped, where no test ran.

#include <gtest/gtest.h>

#include <cstdio>

namespace {

constexpr int skipped = 77;

// One line: the test, then the sentence.
void print_reason(const testing::TestInfo& test) {
  const testing::TestResult& result = *test.result();
  for (int i = 0; i < result.total_part_count(); ++i) {
    const testing::TestPartResult& part = result.GetTestPartResult(i);
    if (!part.skipped()) continue;
    std::printf("Skipped: %s.%s: %s\n", test.test_suite_name(), test.name(), part.message());
    return;
  }
}

}  // namespace

int main(int count, char** values) {
  testing::InitGoogleTest(&count, values);
  const int verdict = RUN_ALL_TESTS();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int suite = 0; suite < all.total_test_suite_count(); ++suite) {
    const testing::TestSuite& tests = *all.GetTestSuite(suite);
    for (int i = 0; i < tests.total_test_count(); ++i) {
      const testing::TestInfo& test = *tests.GetTestInfo(i);
      if (test.should_run() && test.result()->Skipped()) print_reason(test);
    }
  }
  const bool none_ran = all.skipped_test_count() > 0 && all.successful_test_count() == 0;
  return verdict == 0 && none_ran ? skipped : verdict;
}
