// What ends a call of the C interface early, thrown inside the library and caught at its border.
#pragma once

#include <string>

#include "tilewright.h"

namespace tw::library {

struct Failure {
  tw_status status;
  std::string sentence;
};

// The thread's message; never null.
void set_message(const char* sentence) noexcept;
const char* message() noexcept;

// Tells the exception that is being handled.
tw_status report_failure() noexcept;

// Runs `body` for a C function: whatever it throws becomes a status and the thread's message.
template <class Body>
tw_status guarded(const Body& body) noexcept {
  set_message("");
  try {
    body();
    return TW_OK;
  } catch (...) {
    return report_failure();
  }
}

}  // namespace tw::library
