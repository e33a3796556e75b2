// A call that fails has a message, also where no memory is left to store it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>

#include "src/library/failure.h"

namespace {

bool memory_is_gone = false;

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const memory = memory_is_gone ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tw::library {
namespace {

const std::string long_sentence(200, 'x');

TEST(Message, IsStoredWithoutMemory) {
  const tw_status status = guarded([] {
    Failure failure{TW_UNSUPPORTED, long_sentence};
    memory_is_gone = true;
    throw failure;
  });
  memory_is_gone = false;
  EXPECT_EQ(status, TW_UNSUPPORTED);
  EXPECT_STREQ(message(),
               "The host's memory ran out, and none was left for the sentence that says why.");
  // The next call has its own.
  EXPECT_EQ(guarded([] { throw Failure{TW_INVALID, long_sentence}; }), TW_INVALID);
  EXPECT_EQ(message(), long_sentence);
  EXPECT_EQ(guarded([] {}), TW_OK);
  EXPECT_STREQ(message(), "");
}

}  // namespace
}  // namespace tw::library
