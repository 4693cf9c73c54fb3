// The MSM over G2.
#include "msm.cuh"
MSM_KERNELS(FieldG2, g2, 3)
