"""Cases: published and textbook systems, each run, written and checked by one short file.

The file of a case models the system, and defines ``run``, which computes a result, ``write``, which writes tables and
pictures of a result to a folder and returns summary numbers, and ``checks``, the comparisons with references. Its
``case`` (:class:`flexph.case.Case`) makes these available to the command ``flexph``.
"""
