"""The page of all checks of all cases."""

from __future__ import annotations

from case_runs import CaseRun
from page_parts import checks_table, table

KINDS = ("published", "closed form", "independent code", "theorem", "bound", "not comparable")


def validation(runs: list[CaseRun]) -> str:
    """All checks of all cases, by kind of reference."""
    checks = [(run, check) for run in runs for check in run.checks]
    counted = [
        (kind, str(len(of)), "–" if None in of else str(sum(of)))
        for kind in KINDS
        for of in [[check["passed"] for _, check in checks if check["kind"] == kind]]
    ]
    failed = sum(check["passed"] is False for _, check in checks)
    kinds = "\n\n".join(_of_kind(kind, runs) for kind in KINDS)
    return (
        f"# Validation\n\nThis page compares {len(checks)} numbers of {len(runs)} cases with references, as "
        f"`flexph validate` does; {failed or 'none'} of them fail{'s' if failed == 1 else ''}.\n"
        f"Relative differences are in per cent, absolute ones in the unit of the quantity.\n\n"
        f"{table(('kind of reference', 'checks', 'pass'), counted)}\n\n"
        f"{kinds}\n"
    )


def _of_kind(kind: str, runs: list[CaseRun]) -> str:
    means = {
        "published": "The number stands in the source, with the digits that are compared.",
        "closed form": "A formula or a series of the source, evaluated for the data of the case.",
        "independent code": "Another program, library or formulation computed it.",
        "theorem": "Theory gives the number for any data: zero for a conserved quantity, an order, a count.",
        "bound": "The number is at most the reference; the two need not be near each other.",
        "not comparable": "The source prints the number for other data: shown, neither passed nor failed.",
    }
    parts = [f"## {kind.capitalize()}\n\n{means[kind]}"]
    for run in runs:
        checks = [check for check in run.checks if check["kind"] == kind]
        if checks:
            parts.append(
                f"### [{run.name}](gallery/{run.name}.md)\n\n```{{raw}} html\n{checks_table(checks, kinds=False)}\n```"
            )
    return "\n\n".join(parts)
