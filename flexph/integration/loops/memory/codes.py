"""Code numbers of the loops: reasons of failures, requests to Python, and columns of the data of rigid contacts."""

from __future__ import annotations

(
    UNKNOWN,
    SINGULAR,
    DIVERGED,
    UNSETTLED,
    OPENED,
    DEPENDENT,
    DOUBTFUL,
    GENERATING,
    TURNED,
    LAWLESS,
    CLOSING,
    PASSED,
    TOO_MANY,
    CROWDED_TABLE,
) = range(14)
TEXTS = {
    UNKNOWN: "the compiled loops did not solve it",
    SINGULAR: "the Jacobian of the step is singular",
    DIVERGED: "the iteration diverged",
    UNSETTLED: "the iteration did not converge",
    OPENED: "the iteration converged, but its end violates the constraints",
    DEPENDENT: "the constraints are dependent at its end",
    DOUBTFUL: "at its start the rank of the constraints is uncertain, or most of them are redundant",
    GENERATING: "a spring or damper generates energy",
    TURNED: "the angle of a stop exceeds half a turn",
    LAWLESS: "the laws of contacts and friction did not converge",
    CLOSING: "the number of closing contacts keeps growing",
    PASSED: "bodies pass through each other within the step: use shorter ones",
    TOO_MANY: "too many contacts act at once",
    CROWDED_TABLE: "too many pairs of a group stick by friction: use a slip_velocity",
}
"""Messages of the reasons of failure."""
NORMAL, FRICTION, IMPACT, ARRIVAL, RUBBED, SETTLED = range(6)
"""Columns of ``contacts_struck``."""
MISSED, SCALE, BALANCE, KNOWN, FREE, CLOSED, TOLD, CROWDED = range(8)
"""Entries of ``strike_audit``: largest defect of the contact laws [m/s], its scale [m/s], energy residual [J], number
of known rows of history, largest rate without further impulses [m/s], defect of the laws over a step [m/s], and the
resolution of rates of gaps by positions [m/s].

``CROWDED`` is set if many contacts of a step have separate impacts.
"""

FACTOR, SOLVE = 0, 1
"""Factor the border, and solve with it in place."""
MEAN, ENERGY, SLOPE, TANGENT = 2, 3, 4, 5
"""Mean stresses over a step, energies, and slopes of the stresses over the step and at its end."""
PRODUCTS, VISCOUS, STRAIN, RESIST = 6, 7, 8, 9
"""For coordinates of large bodies: inertia products, constant damping, strain rates, and elastic and damping forces."""
