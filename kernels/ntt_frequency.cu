// Passes of transforms from natural to bit-reversed order.
#include "ntt.cuh"
NTT_PASS(ntt_frequency_forward, false, false)
NTT_PASS(ntt_frequency_inverse, false, true)
