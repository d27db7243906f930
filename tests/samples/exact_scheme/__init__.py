"""The exact scheme in plain NumPy: the residual of one step, and the state at its end.

An oracle for the compiled loops, and the text of docs/theory/exact-scheme.md. Every force acts by the transpose of an
exact increment; nothing here is made to be fast. All functions take complex arrays, so that the residual has exact
derivatives by complex steps: no absolute values, maxima or comparisons but of real parts, no products that conjugate.
"""
