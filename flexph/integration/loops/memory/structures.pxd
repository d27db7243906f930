from ....numerics.loops.views cimport IVec, Mat, Vec

cdef struct AtNodes:
    Mat coefficient
    Mat coefficient_rate
    Mat offset_rate
    Mat inputs
    Mat moved
    Mat factor
    Mat factor_rate
    Mat factor_end
    Py_ssize_t first

cdef struct Table:
    Vec times
    Mat coefficient
    Mat offset
    Mat coefficient_rate
    Mat offset_rate
    Mat inputs
    Mat moved

cdef struct Between:
    Py_ssize_t address
    Vec times
    Table table

cdef struct Bracket:
    double first
    double before
    double last
    double after

cdef struct Within:
    Py_ssize_t address
    Py_ssize_t data
    Mat state
    Vec output
    Mat inputs
    Mat given
    Vec start
    Vec under_way

cdef struct Calls:
    Py_ssize_t address
    Py_ssize_t data
    IVec due
    Vec held
    Mat held_in_steps
    Within within

cdef struct GaussTable:
    Vec times
    Mat coefficient
    Mat offset
    Mat coefficient_rate
    Mat offset_rate
    Mat stage_coefficient
    Mat stage_rate
    Mat stage_offset
    Mat inputs
    Mat moved
    Mat factor
    Mat factor_rate
    Mat factor_end

cdef struct Given:
    double h
    Vec inputs
    Vec before
    Vec after
    Vec offset
    Vec last_offset
    Vec coefficient_rate
    Vec offset_rate
    bint moves

cdef struct Deformed:
    Vec u
    Mat mean
    Mat products

cdef struct Momenta:
    Mat p_r
    Vec p_u

cdef struct Pair:
    Vec found
    Vec before
    Vec mu
    Vec gaps
    Vec control
    Vec start
    Vec times
    Mat spans

cdef struct Kinds:
    Py_ssize_t redundant
    Py_ssize_t decay
    Py_ssize_t contact
    Py_ssize_t friction

cdef struct Parts:
    Vec shares
    Vec weights
    Py_ssize_t depth
    Pair pair
    Kinds kinds

cdef struct Rows:
    Mat state
    Mat energy
    Mat stage
    Mat multipliers
    Mat flow
    Mat audit

cdef struct Course:
    Parts parts
    Calls calls
    Rows rows
    IVec solved
    Py_ssize_t every
    Py_ssize_t before
    Py_ssize_t known

cdef struct Prescribed:
    Table table
    Py_ssize_t k
    Between between
