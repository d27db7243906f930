#!/usr/bin/env bash
# Installs Debian's PETSc and SLEPc and their Python bindings into a virtual environment (.venv, or the one whose python
# is given), and runs the tests that need them. Built wheels are kept in .wheels: with one processor they take 5 minutes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${1:-.venv/bin/python} wheels=$PWD/.wheels
root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi; }

root apt-get update -qq
# MUMPS on the reference BLAS would be four times slower than on OpenBLAS.
root apt-get install -y -qq --no-install-recommends libpetsc-real-dev libslepc-real-dev libopenblas0-serial openmpi-bin
version=$(dpkg-query -W -f '${Version}' libpetsc-real-dev | grep -oE '^[0-9]+\.[0-9]+')
PETSC_DIR=$(echo /usr/lib/petscdir/petsc"$version"/*-real) SLEPC_DIR=$(echo /usr/lib/slepcdir/slepc"$version"/*-real)
export PETSC_DIR SLEPC_DIR CFLAGS="-O1 -g0"

if ! ls "$wheels"/slepc4py-"$version".*.whl > /dev/null 2>&1; then
    build=$(mktemp -d) # bindings of this age are not built by setuptools from 66 on
    "$python" -m venv "$build"
    numpy=$("$python" -c 'import numpy; print(numpy.__version__)')
    "$build/bin/pip" install -q "setuptools<66" wheel "numpy==$numpy"
    for package in petsc4py slepc4py; do
        "$build/bin/pip" wheel -q --no-deps --no-build-isolation -w "$wheels" "$package==$version.*"
        "$build/bin/pip" install -q --no-deps "$wheels/$package-$version".*.whl
    done
    rm -r "$build"
fi
"$python" -m pip install -q "mpi4py>=4"
"$python" -m pip install -q --no-deps "$wheels"/petsc4py-"$version".*.whl "$wheels"/slepc4py-"$version".*.whl
"$python" -m pytest -q -m "" tests/fem/distributed
