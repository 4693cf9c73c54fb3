// Passes of transforms from bit-reversed to natural order.
#include "ntt.cuh"
NTT_PASS(ntt_time_forward, true, false)
NTT_PASS(ntt_time_inverse, true, true)
