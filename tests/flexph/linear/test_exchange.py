"""Linear systems to other packages and files and back: bit for bit, or by their transfer functions."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import scipy.signal
from covering import covering
from linear_samples import chain, frame, random_system, to_sparse
from scipy import sparse
from scipy.io import savemat

from flexph import eliminate
from flexph.control import port_spring
from flexph.exchange import (
    from_control,
    from_general,
    from_pymor,
    from_scipy,
    read_mat,
    read_matrix_market,
    to_control,
    to_pymor,
    to_scipy,
    write_mat,
    write_matrix_market,
)
from flexph.linear import frequency_response
from flexph.linear.state_space import state_space

OMEGA = np.array([0.1, 0.7, 2.0, 9.0])


def random_general(seed=0, size=6, width=2, rank=None, through=True):
    """Random (E, J, R, B, P, S, N) with [[R, P], [Pᵀ, S]] ⪰ 0 of some rank; P = S = N = 0 without feedthrough."""
    draw = np.random.default_rng(seed).standard_normal
    root, free, turn = draw((size, size)), draw((size, size)), draw((width, width))
    half = draw((size + width, rank or size + width))
    loss = half @ half.T
    given = {"E": root @ root.T + np.eye(size), "J": free - free.T, "R": loss[:size, :size], "B": draw((size, width))}
    if through:
        given |= {"P": loss[:size, size:], "S": loss[size:, size:], "N": turn - turn.T}
    return given


def transfer(given, omega):
    """(B + P)ᵀQ(iωE − (J − R)Q)⁻¹(B − P) + S − N."""
    n, m = given["B"].shape
    q, p = given.get("Q", np.eye(n)), given.get("P", np.zeros((n, m)))
    d = given.get("S", np.zeros((m, m))) - given.get("N", np.zeros((m, m)))
    a, left, right = (given["J"] - given["R"]) @ q, (given["B"] + p).T @ q, given["B"] - p
    return np.array([left @ np.linalg.solve(1j * w * given["E"] - a, right) + d for w in omega])


def values(system, omega=OMEGA):
    return frequency_response(system, omega).values


def assert_same(a, b, tolerance=1e-9):
    size = np.abs(values(b)).max()
    np.testing.assert_allclose(values(a), values(b), atol=tolerance * size)


def assert_identical(a, b):
    for name in ("E", "J", "R", "B", "G", "lift"):
        one, other = getattr(a, name), getattr(b, name)
        assert (one is None) == (other is None) and sparse.issparse(one) == sparse.issparse(other)
        if one is not None:
            full = [m.toarray() if sparse.issparse(m) else m for m in (one, other)]
            np.testing.assert_array_equal(*full)
    for name in ("ports", "causality", "parts", "constraints"):
        assert getattr(a, name) == getattr(b, name)
    np.testing.assert_array_equal(a.kinetic, b.kinetic)


# the general form


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["all", "S alone", "no S"])
def test_feedthrough_is_carried_exactly(seed, kind):
    given = random_general(seed, rank=3)
    if kind == "S alone":
        given |= {"P": None, "N": None}
    if kind == "no S":
        given = random_general(seed, through=False)
    system = from_general(**given)
    expected = transfer({k: v for k, v in given.items() if v is not None}, OMEGA)
    np.testing.assert_allclose(values(system), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(
        frequency_response(system, OMEGA, method="direct").values, expected, rtol=1e-9, atol=1e-11
    )
    lean = from_general(**{k: None if v is None else sparse.csr_array(v) for k, v in given.items()})
    assert lean.is_sparse
    np.testing.assert_allclose(values(lean), expected, rtol=1e-9, atol=1e-11)


def test_q_goes_into_the_equations():
    given = random_general(1)
    q = np.random.default_rng(5).standard_normal((6, 6))
    # E = Q⁻ᵀ(…) makes QᵀE symmetric positive definite
    given |= {"Q": q, "E": np.linalg.solve(q.T, given["E"])}
    np.testing.assert_allclose(values(from_general(**given)), transfer(given, OMEGA), rtol=1e-8, atol=1e-10)
    with pytest.raises(ValueError, match="Q must be regular"):
        from_general(**{**given, "Q": np.diag([1.0, 1.0, 1.0, 1.0, 1.0, 0.0])})
    with pytest.raises(ValueError, match="QᵀE must be symmetric"):
        from_general(**{**given, "E": np.eye(6)})


def test_a_creating_feedthrough_is_refused():
    given = random_general(2)
    with pytest.raises(ValueError, match="R must be positive semi-definite"):
        from_general(**{**given, "P": 100.0 * given["P"]})
    with pytest.raises(ValueError, match="S must be symmetric"):
        from_general(**{**given, "S": np.array([[1.0, 1.0], [0.0, 1.0]])})


# state spaces


@pytest.mark.parametrize("seed", range(3))
def test_systems_come_back_from_scipy(seed):
    system = random_system(seed)
    model = to_scipy(system)
    np.testing.assert_array_equal(model.C, model.B.T)
    assert not np.any(model.D)
    found = np.array([model.C @ np.linalg.solve(1j * w * np.eye(len(model.A)) - model.A, model.B) for w in OMEGA])
    np.testing.assert_allclose(found, values(system), rtol=1e-9, atol=1e-11)
    back = from_scipy(model, ports=system.ports)
    np.testing.assert_array_equal(back.E, np.eye(len(model.A)))  # Q = 1 is seen at once
    assert back.ports == system.ports
    assert_same(back, system)


def turned(model, seed=0):
    """The same system in coordinates that say nothing of its energy."""
    t = np.random.default_rng(seed).standard_normal(model.A.shape) + 2.0 * np.eye(len(model.A))
    return scipy.signal.StateSpace(*(np.linalg.solve(t, m) for m in (model.A @ t, model.B)), model.C @ t, model.D)


def one_damper(masses, at):
    R = np.zeros((2 * masses, 2 * masses))
    R[at, at] = 0.3
    return replace(chain(masses), R=R)


PASSIVE = {
    "damped": chain(4, 0.1),
    "lossless": chain(5),
    "one damper inside": one_damper(5, 2),
    "damper at a port": one_damper(4, 3),
    "one port": replace(one_damper(5, 1), B=chain(5).B[:, 1:], ports={"u": slice(0, 1)}),
    "dense losses": from_general(**random_general(3, through=False)),
    "one loss": from_general(**random_general(4, through=False, rank=1)),
    "feedthrough": from_general(**random_general(5)),
    "feedthrough of rank two of three": from_general(**random_general(6, width=3, rank=2)),
    "PI": port_spring(3.0, 0.5),
}


@pytest.mark.parametrize("name", PASSIVE)
def test_an_energy_is_found(name):
    """In turned coordinates Q = 1 is wrong; the energy found makes a pH system with the same response."""
    system = PASSIVE[name]
    back = from_scipy(turned(to_scipy(system)))
    # Riccati solutions at the edge of passivity (isolated frequencies without loss) have half the digits
    assert_same(back, system, tolerance=1e-6)
    assert np.linalg.norm(back.E - np.eye(back.size)) > 0.1


def test_a_given_energy_is_used_and_checked():
    model = turned(to_scipy(chain(3, 0.2)), seed=3)
    q = from_scipy(model).E
    np.testing.assert_array_equal(from_scipy(model, energy=q).E, q)
    with pytest.raises(ValueError, match=r"energy must satisfy .* its lowest eigenvalue is -\d"):
        from_scipy(model, energy=np.eye(6))
    with pytest.raises(ValueError, match="energy must be positive definite"):
        from_scipy(model, energy=-np.eye(6))
    with pytest.raises(ValueError, match="energy must be symmetric"):
        from_scipy(model, energy=np.eye(6) + np.eye(6, k=1))


@pytest.mark.parametrize(
    ("numerator", "denominator", "message"),
    [
        # Re H(iω) = (5 − 3ω²)/… at ω = 0 is −1/5
        ([1, -1], [1, 2, 5], r"at omega = 0 rad/s the Hermitian part of H\(iω\) has the eigenvalue -0.2"),
        # 1/(s² + s + 1): Re H = (1 − ω²)/((1 − ω²)² + ω²), least at ω = √2 where it is −1/3
        ([1], [1, 1, 1], r"at omega = 1.41\d* rad/s the Hermitian part of H\(iω\) has the eigenvalue -0.333"),
        ([1, 0], [1, -0.1, 1], r"unstable: the pole 0.05.*1/s has a positive real part"),
    ],
)
def test_what_is_not_passive_is_refused_by_name(numerator, denominator, message):
    with pytest.raises(ValueError, match=f"the system is not passive: .*{message}"):
        from_scipy(scipy.signal.TransferFunction(numerator, denominator))


def test_bad_state_spaces_are_refused():
    with pytest.raises(ValueError, match="as many outputs as inputs, got 2 and 1"):
        from_scipy(scipy.signal.StateSpace([[-1.0]], [[1.0]], [[1.0], [1.0]], [[0.0], [0.0]]))
    with pytest.raises(ValueError, match="continuous in time"):
        from_scipy(scipy.signal.StateSpace([[0.5]], [[1.0]], [[1.0]], [[0.0]], dt=0.1))


def test_systems_come_back_from_python_control():
    control = pytest.importorskip("control")
    system = random_system(2)
    model = to_control(system)
    assert model.input_labels == ["a[0]", "a[1]", "b"]
    np.testing.assert_allclose(model(1j * OMEGA[1]), values(system)[1], rtol=1e-9, atol=1e-11)
    back = from_control(model)
    assert back.ports == system.ports
    assert_same(back, system)
    proper = from_control(control.tf([1, 1], [1, 2, 5]))
    assert_same(proper, from_scipy(scipy.signal.TransferFunction([1, 1], [1, 2, 5])))
    with pytest.raises(ValueError, match="model must be a system of python-control, got str"):
        from_control("x")
    with pytest.raises(ValueError, match=r"continuous in time, got dt = 0\.1"):
        from_control(control.ss([[0.5]], [[1.0]], [[1.0]], [[0.0]], 0.1))


def test_names_with_dots_go_to_control_and_back():
    pytest.importorskip("control")
    model = to_control(frame())
    assert model.input_labels == ["force b·root[0]", "force b·root[1]", "torque a·root"]
    back = from_control(model)
    assert back.ports == frame().ports
    assert_same(back, frame())
    with pytest.raises(ValueError, match="ports must not have '·' in their names"):
        to_control(replace(chain(2), ports={"a·b": slice(0, 2)}))


@pytest.mark.parametrize("gain", [2.0, 0.0])
def test_a_pure_gain_is_a_feedthrough(gain):
    control = pytest.importorskip("control")
    made = from_control(control.tf([gain], [1]))
    np.testing.assert_allclose(values(made).ravel(), gain)
    with pytest.raises(ValueError, match=r"not passive: .* eigenvalue -1"):
        from_control(control.tf([-1], [1]))


@pytest.mark.parametrize(
    "system", [random_system(1), to_sparse(chain(4, 0.1)), port_spring(3.0, 0.5)], ids=["dense", "sparse", "singular"]
)
def test_systems_come_back_from_pymor(system):
    pytest.importorskip("pymor")
    model = to_pymor(system)
    np.testing.assert_allclose(model.transfer_function.freq_resp(OMEGA), values(system), rtol=1e-9, atol=1e-11)
    back = from_pymor(model, ports=system.ports)
    assert_same(back, system)
    free = eliminate(system)
    if free.size == back.size and np.all(free.E.diagonal() > 0.0):
        for name in ("E", "J", "R", "B"):
            one, other = (m.toarray() if sparse.issparse(m) else m for m in (getattr(back, name), getattr(free, name)))
            np.testing.assert_array_equal(one, other)


def test_models_of_pymor_with_all_matrices_are_read():
    iosys = pytest.importorskip("pymor.models.iosys")
    given = random_general(7)
    model = iosys.PHLTIModel.from_matrices(
        given["J"], given["R"], given["B"], P=given["P"], S=given["S"], N=given["N"], E=given["E"]
    )
    np.testing.assert_allclose(values(from_pymor(model)), transfer(given, OMEGA), rtol=1e-9, atol=1e-11)
    with pytest.raises(ValueError, match="must be a PHLTIModel, got LTIModel"):
        from_pymor(iosys.LTIModel.from_matrices(-np.eye(2), np.eye(2), np.eye(2)))


@pytest.mark.parametrize(("module", "send"), [("control", to_control), ("pymor.models.iosys", to_pymor)])
def test_a_missing_package_is_named_with_its_extra(module, send, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf'pip install "flexph\[{module.partition(".")[0]}\]"'):
        send(chain(2))


# files

FILES = {
    "mat": (lambda folder, s: write_mat(folder / "system.mat", s), read_mat),
    "matrix market": (lambda folder, s: write_matrix_market(folder / "system", s), read_matrix_market),
}
SYSTEMS = {
    "frame": frame,
    "sparse": lambda: to_sparse(frame()),
    "eliminated": lambda: eliminate(frame()),
    "sparse, eliminated": lambda: eliminate(to_sparse(frame())),
    "random": random_system,
    "no ports": lambda: replace(chain(3), B=np.zeros((6, 0)), ports={}),
    "velocity port": partial(port_spring, 3.0, 0.5),
}


@covering("format, name", tuple(FILES), tuple(SYSTEMS))
def test_files_give_back_every_bit(format, name, tmp_path):
    write, read = FILES[format]
    system = SYSTEMS[name]()
    assert_identical(read(write(tmp_path, system)), system)


def test_multipliers_in_a_mat_file(tmp_path):
    system = random_system(3)
    back = read_mat(write_mat(tmp_path / "a.mat", system, multipliers=True))
    assert back.size == system.size + 2 and not back.G.shape[0]
    assert_same(back, system)


def test_mat_files_of_others(tmp_path):
    """Q and feedthrough, and the input matrix under the name G."""
    given = random_general(8)
    q = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    given |= {"Q": q, "E": np.linalg.solve(q, given["E"])}
    savemat(tmp_path / "other.mat", {("G" if k == "B" else k): v for k, v in given.items()})
    np.testing.assert_allclose(values(read_mat(tmp_path / "other.mat")), transfer(given, OMEGA), rtol=1e-9, atol=1e-11)


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no such file: '.*missing\.mat'"):
        read_mat(tmp_path / "missing.mat")
    with pytest.raises(ValueError, match=r"path must be in an existing folder, got '.*a\.mat'"):
        write_mat(tmp_path / "missing" / "a.mat", chain(2))
    with pytest.raises(ValueError, match=r"must end in \.mat"):
        write_mat(tmp_path / "a.txt", chain(2))
    savemat(tmp_path / "b.mat", {"E": np.eye(2), "A": np.eye(2)})
    with pytest.raises(ValueError, match="must contain E, J and R, it lacks J, R; it has E, A"):
        read_mat(tmp_path / "b.mat")
    with pytest.raises(FileNotFoundError, match=r"system\.json"):
        read_matrix_market(tmp_path)
    (tmp_path / "system.json").write_text("{}")
    with pytest.raises(ValueError, match="must be in the format"):
        read_matrix_market(tmp_path)


@pytest.mark.parametrize(
    "send",
    [
        to_scipy,
        to_control,
        to_pymor,
        lambda x: write_mat("x.mat", x),
        lambda x: write_matrix_market("x", x),
    ],
)
def test_what_is_no_system_is_named(send, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"system must be a LinearPHDAE, see .* got int"):
        send(3)
    with pytest.raises(ValueError, match=r"model must be a scipy\.signal\.StateSpace or .*, got int"):
        from_scipy(3)
    assert not list(tmp_path.iterdir())


def test_a_folder_is_written_anew(tmp_path):
    write_matrix_market(tmp_path, random_system())
    write_matrix_market(tmp_path, chain(2))
    assert not (tmp_path / "G.mtx").exists()
    assert_identical(read_matrix_market(tmp_path), chain(2))


def test_energy_coordinates_keep_the_symmetric_part():
    """A = J − R: the symmetric part of A is −L⁻¹RL⁻ᵀ with E = LLᵀ."""
    system = eliminate(random_system(6))
    lower = np.linalg.cholesky(system.E)
    half = np.linalg.solve(lower, system.R)
    a = state_space(system).A
    np.testing.assert_allclose(-0.5 * (a + a.T), np.linalg.solve(lower, half.T), atol=1e-12 * np.linalg.norm(a))


def test_pymor_models_may_be_symmetric_up_to_round_off_of_a_projection():
    iosys = pytest.importorskip("pymor.models.iosys")
    system = eliminate(random_system())
    noise = np.random.default_rng(2).standard_normal(system.J.shape)
    skew = (noise - noise.T) / np.linalg.norm(noise - noise.T)
    R = system.R + 1e-11 * np.linalg.norm(system.R) * skew
    back = from_pymor(iosys.PHLTIModel.from_matrices(system.J, R, system.B, E=system.E))
    np.testing.assert_allclose(back.R, system.R, atol=1e-15 * np.linalg.norm(system.R))
    wrong = system.R + 1e-6 * np.linalg.norm(system.R) * skew
    with pytest.raises(ValueError, match="R of the model must be symmetric, it is so up to"):
        from_pymor(iosys.PHLTIModel.from_matrices(system.J, wrong, system.B, E=system.E))
