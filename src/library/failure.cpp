#include "src/library/failure.h"

#include <exception>
#include <new>

namespace tw::library {

namespace {

thread_local std::string thread_message;

}  // namespace

void set_message(const char* sentence) noexcept {
  try {
    thread_message = sentence;
  } catch (const std::bad_alloc&) {
    thread_message.clear();
  }
}

const char* message() noexcept { return thread_message.c_str(); }

tw_status report_failure() noexcept {
  try {
    throw;
  } catch (const Failure& failure) {
    set_message(failure.sentence.c_str());
    return failure.status;
  } catch (const std::bad_alloc&) {
    set_message("The host's memory ran out.");
  } catch (const std::exception& exception) {
    set_message(exception.what());
  } catch (...) {
    set_message("Something was thrown that is no exception.");
  }
  return TW_INVALID;
}

}  // namespace tw::library
