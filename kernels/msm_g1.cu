// The MSM over G1.
#include "msm.cuh"
MSM_KERNELS(FieldG1Called, g1, 3)
