// The device that is measured: its names, its clock and its power, how fast it copies.
#pragma once

#include <memory>
#include <string>

#include "src/bench/harness/result.h"

namespace tw::bench {

void must(int code, const char* what);  // ends the program unless `code` is 0

std::string device_name();     // CUDA's name for it
std::string driver_version();  // empty where nvidia-smi is not there

// Bytes read and written in a second by a copy of 1 GiB on the device.
double copy_bytes_per_second();

// Asks the management library (NVML) of the driver, without waiting for what runs.
class Monitor {
 public:
  Monitor();
  Reading read() const;  // zeroes where there is no such library
  // What the device has used since the driver was loaded, counted in steps of about 100 ms; 0
  // where it is not counted.
  double millijoules() const;

 private:
  struct Library;
  std::shared_ptr<const Library> library_;
};

}  // namespace tw::bench
