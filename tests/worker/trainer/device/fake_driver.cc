// SPDX-License-Identifier: Apache-2.0
//
// An NVIDIA driver without a GPU: two that do nothing but tell what they are.
// Built twice, as libcuda.so.1 and as libnvidia-ml.so.1.
#include <cstdio>
#include <cstring>

#ifdef FROSTLINE_FAKE_NVML

extern "C" int nvmlInit_v2() { return 0; }

extern "C" int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id,
                                                void** device) {
  static int second;
  *device = &second;
  return std::strcmp(bus_id, "0000:18:00.0") == 0 ? 0 : 6;  // not found
}

extern "C" int nvmlDeviceGetTotalEnergyConsumption(void*,
                                                   unsigned long long* used) {
  *used = 12345600;  // in millijoules
  return 0;
}

#else

extern "C" int cuInit(unsigned) { return 0; }

extern "C" int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}

extern "C" int cuDeviceGet(int* device, int index) {
  *device = 40 + index;  // no index, but what CUDA calls a handle
  return 0;
}

extern "C" int cuDeviceGetName(char* name, int size, int device) {
  std::snprintf(name, static_cast<unsigned>(size), "Frost %d", device);
  return 0;
}

extern "C" int cuDeviceGetPCIBusId(char* bus_id, int size, int device) {
  std::snprintf(bus_id, static_cast<unsigned>(size), "0000:%d:00.0",
                device - 23);
  return 0;
}

extern "C" int cuDeviceGetAttribute(int* value, int which, int device) {
  switch (which) {
    case 13:  // kHz
      *value = 1980000;
      return 0;
    case 16:  // multiprocessors
      *value = 132;
      return 0;
    case 75:  // capability: 7.5 and 9.0
      *value = device == 40 ? 7 : 9;
      return 0;
    case 76:
      *value = device == 40 ? 5 : 0;
      return 0;
    default:
      return 1;
  }
}

#endif
