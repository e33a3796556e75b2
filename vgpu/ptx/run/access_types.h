// The types of loads and stores.
#pragma once

namespace tw::vgpu::ptx {

struct AccessType {
  const char* name;
  unsigned bytes;
  bool is_signed;
};
inline constexpr AccessType access_types[] = {
    {".b8", 1, false},  {".u8", 1, false},  {".s8", 1, true},    {".b16", 2, false},
    {".u16", 2, false}, {".s16", 2, true},  {".b32", 4, false},  {".u32", 4, false},
    {".s32", 4, true},  {".f32", 4, false}, {".b64", 8, false},  {".u64", 8, false},
    {".s64", 8, true},  {".f64", 8, false}, {".b128", 16, false}};

}  // namespace tw::vgpu::ptx
