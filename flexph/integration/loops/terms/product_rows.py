"""Rows by which weighted sums of products (scalar products of vectors between nodes) enter the border of the Jacobian.

Row ``acting`` is the effect of a unit force on a sum, by the discrete gradient B; row ``moved`` is the derivative of a
sum at the end with respect to the unknowns, by the end derivative W. Blocks of the Jacobian are outer products of both.
Only listed columns have entries.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from ....numerics.loops.views import row_product
    from ..memory.memory import Memory
    from .border import add


def begin_rows(m: Memory) -> None:
    """Set all rows ``acting`` and ``moved`` to zero before products are added to them."""
    for k in range(m.rows_number[0]):
        column = m.rows_column[k]
        m.rows_listed[column] = 0
        for r in range(m.rows_acting.shape[0]):
            m.rows_acting[r][column] = 0.0
        for r in range(m.rows_moved.shape[0]):
            m.rows_moved[r][column] = 0.0
    m.rows_number[0] = 0


def add_product(m: Memory, dim: int, p: int) -> None:
    """Add product p to all rows, with the weights ``rows.act`` and ``rows.move`` of the rows."""
    for side in range(2):
        v = m.joints_first[p] if side == 0 else m.joints_second[p]
        other = m.joints_second[p] if side == 0 else m.joints_first[p]
        for i in range(m.border_vector_ptr[v], m.border_vector_ptr[v + 1]):
            column = m.border_vector_col[i]
            if column >= 0:
                _list_column(m, column)
                acting = row_product(dim, m.system_B[i], m.trial_mean[other])
                for r in range(m.rows_act.size):
                    m.rows_acting[r][column] += m.rows_act[r] * acting
        for i in range(m.border_end_first[v], m.border_end_last[v]):
            column = m.border_vector_col[i]
            if column >= 0:
                _list_column(m, column)
                moved = row_product(dim, m.system_W[i], m.end_vector[other])
                for r in range(m.rows_move.size):
                    m.rows_moved[r][column] += m.rows_move[r] * moved


def _list_column(m: Memory, column: int) -> None:
    """Append a column to the list of columns that have entries, unless it is in the list."""
    if m.rows_listed[column] == 0:
        m.rows_listed[column] = 1
        m.rows_column[m.rows_number[0]] = column
        m.rows_number[0] += 1


def add_block(m: Memory, acting: int, moved: int, value: float) -> None:
    """Add ``value`` times the outer product of row number ``acting`` and row number ``moved`` to the Jacobian."""
    for i in range(m.rows_number[0]):
        row = m.rows_column[i]
        gain = value * m.rows_acting[acting][row]
        if gain != 0.0:
            for j in range(m.rows_number[0]):
                column = m.rows_column[j]
                if m.rows_moved[moved][column] != 0.0:
                    add(m, row, column, gain * m.rows_moved[moved][column])


def add_pair(m: Memory) -> None:
    """Add Σ acting_k T_kl moved_l to the border of the Jacobian, with k and l the second and third rows.

    T is the matrix ``system.tangent`` (2, 2). These rows are then set to zero.
    """
    for i in range(m.rows_number[0]):
        row = m.rows_column[i]
        first = m.rows_acting[1][row]
        second = m.rows_acting[2][row]
        if first != 0.0 or second != 0.0:
            by_first = first * m.system_tangent[0][0] + second * m.system_tangent[1][0]
            by_second = first * m.system_tangent[0][1] + second * m.system_tangent[1][1]
            for j in range(m.rows_number[0]):
                column = m.rows_column[j]
                value = by_first * m.rows_moved[1][column] + by_second * m.rows_moved[2][column]
                if value != 0.0:
                    add(m, row, column, value)
    for i in range(m.rows_number[0]):
        column = m.rows_column[i]
        for r in range(1, 3):
            m.rows_acting[r][column] = 0.0
            m.rows_moved[r][column] = 0.0


def add_to_row(m: Memory, row: int, moved: int, value: float) -> None:
    """Add ``value`` times row number ``moved`` to row ``row`` of the border of the Jacobian."""
    for j in range(m.rows_number[0]):
        if m.rows_moved[moved][m.rows_column[j]] != 0.0:
            add(m, row, m.rows_column[j], value * m.rows_moved[moved][m.rows_column[j]])


def add_to_column(m: Memory, column: int, acting: int, value: float) -> None:
    """Add ``value`` times row number ``acting`` to column ``column`` of the border of the Jacobian."""
    for i in range(m.rows_number[0]):
        if m.rows_acting[acting][m.rows_column[i]] != 0.0:
            add(m, m.rows_column[i], column, value * m.rows_acting[acting][m.rows_column[i]])
