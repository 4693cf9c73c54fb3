// Points of G2 in keys.
#include "keys.cuh"
KEY_KERNELS(FieldG2Whole, g2)
