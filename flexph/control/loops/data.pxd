# C structs of the named tuples of data.py, which hold the meaning of their fields.
from ...numerics.loops.views cimport IMat, IVec, Mat, Vec
from ...sensors.panel_arrays cimport PanelArrays

cdef struct Linear:
    Mat E
    Mat flow
    Mat B
    IVec state
    IVec stored
    Vec x
    Vec end
    Vec begun
    Mat acting
    IVec own
    IVec output_index
    Vec u
    Vec mean
    Mat solved
    Vec solved_length

cdef struct Laws:
    IVec column
    IVec kind
    Mat parameter
    IVec function
    Vec arguments
    Vec results
    Vec force
    Vec before
    Vec rest
    Mat by
    Mat both
    Vec free
    Mat slopes
    Vec rate
    Vec alone
    Vec stiffness
    Vec power
    Vec off
    Vec met
    Vec next
    Vec step
    Mat space
    Vec speed
    Mat lost

cdef struct Coupling:
    Vec times
    Vec nodes
    Vec ends
    Mat state
    Vec output
    Mat inputs
    IVec entries
    Vec tried
    Vec answers
    Vec defect
    Mat before
    Mat past
    IVec known
    Mat begun_past
    IVec begun_known
    IVec finished
    Mat slope
    Vec slope_length
    Mat space
    Mat other
    Vec scale
    Vec size
    Vec shift
    IVec probe
    IVec trials
    Linear linear
    Laws laws
    IVec feedback
    IVec first
    Mat means
    Mat given
    Mat port_output
    Mat converged
    Mat states

cdef struct Feedback:
    PanelArrays arrays
    IVec entries
    Vec part
    Mat out
    IVec angles
    IVec which
    Vec near
    Vec start
    Vec begun_near
    Vec begun_start
    Vec end
    Vec time
    Vec readings
    Vec inputs
    IVec function
    IVec given
    IVec in_c
    IVec ports

cdef struct HeldFeedback:
    Vec times
    Vec first
    Mat states
    Vec held
    IMat due
    IVec feedback
