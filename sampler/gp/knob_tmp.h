#pragma once
#include <cstdlib>
inline double GpKnob(const char* name, double otherwise) {
  const char* v = std::getenv(name);
  return v == nullptr ? otherwise : std::atof(v);
}
