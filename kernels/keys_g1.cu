// Points of G1 in keys.
#include "keys.cuh"
KEY_KERNELS(FieldG1, g1)
