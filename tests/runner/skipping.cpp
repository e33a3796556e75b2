// For skips.py: a program of which some tests, or all, are skipped.

#include <gtest/gtest.h>

namespace {

TEST(Skipping, IsSkipped) { GTEST_SKIP() << "There is no unicorn here."; }

TEST(Skipping, Runs) {}

TEST(Skipping, Fails) { FAIL(); }

}  // namespace
