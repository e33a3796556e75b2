#include "src/library/failure.h"

#include <exception>
#include <new>

namespace tw::library {

namespace {

thread_local std::string thread_message;
// In place of it, where there was no memory for the sentence.
thread_local const char* fixed_message = nullptr;

}  // namespace

void set_message(const char* sentence) noexcept {
  fixed_message = nullptr;
  try {
    thread_message = sentence;
  } catch (const std::bad_alloc&) {
    fixed_message = "The host's memory ran out, and none was left for the sentence that says why.";
  }
}

const char* message() noexcept {
  return fixed_message != nullptr ? fixed_message : thread_message.c_str();
}

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
