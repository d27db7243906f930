"""One thread for linear algebra: on matrices as small as those of the tests more threads only wait for each other."""

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
