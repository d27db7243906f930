"""Functions of a user that loops call: their errors are kept by thread, and no interruption (Ctrl-C) is lost."""

import math
import subprocess
import sys
import threading

import numpy as np
import pytest

import rigid
from flexph import GROUND, IntegrationInterrupted, connect, integrate, slider, spring_damper
from flexph.laws import potential
from flexph.numerics.loops.functions import address_of, call_real, call_three, last_failure

PROGRAM = """
import os, random, signal, sys, threading, time
import numpy as np
import rigid
from flexph import GROUND, IntegrationInterrupted, connect, integrate, slider, spring_damper
from flexph.laws import force_law, potential, resistive

LAWS = (
    {"law": force_law(lambda x, v, t: 100.0 * x + 0.1 * v)},
    {"law": potential(lambda x: 50.0 * x * x, lambda x: 100.0 * x)},
    {"stiffness": 100.0, "damping": resistive(lambda s: 0.01 * s)},
)
rng, main = random.Random(1), threading.main_thread().ident


def oscillator(law):
    ground = GROUND.at(0.0, 0.0)
    spring = spring_damper("mass.point", ground, direction=(1.0, 0.0), length=0.0, **law)
    mechanism = connect({"mass": rigid.point(2.0)}, [slider("mass.point", ground, turning=True), spring])
    return mechanism, mechanism.consistent_state(mechanism.assemble({"mass": (0.3, 0.0, 0.0)}))


def interrupt():
    while True:  # until the loops run
        code = sys._current_frames()[main].f_code
        if code.co_name == "<lambda>" or code.co_filename.endswith("stepper.py"):
            break
        time.sleep(1e-3)
    time.sleep(rng.uniform(0.0, 0.01))
    os.kill(os.getpid(), signal.SIGINT)


for law in LAWS:
    kept, (mechanism, start) = 0, oscillator(law)
    for _ in range(ROUNDS):
        thread = threading.Thread(target=interrupt)
        try:
            thread.start()
            integrate(mechanism, start, np.linspace(0.0, 1e2, 100001), progress=False)
        except (IntegrationInterrupted, KeyboardInterrupt):
            kept += 1
        thread.join()
    print(kept)
"""


@pytest.mark.parametrize("rounds", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_every_ctrl_c_ends_a_run(rounds):
    """Most of these runs is spent in a function of one line and where it is entered and left."""
    program = PROGRAM.replace("ROUNDS", str(rounds))
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=240)
    assert (run.stdout, run.stderr) == (f"{rounds}\n" * 3, "")


def test_steps_end_where_a_function_is_interrupted():
    """No function is called after that."""
    calls = []

    def slope(x):
        calls.append(x)
        if len(calls) == stop:
            raise KeyboardInterrupt
        return 100.0 * x

    stop, ground = 0, GROUND.at(0.0, 0.0)
    law = potential(lambda x: 50.0 * x * x, slope)
    spring = spring_damper("mass.point", ground, direction=(1.0, 0.0), length=0.0, law=law)
    mechanism = connect({"mass": rigid.point(2.0)}, [slider("mass.point", ground, turning=True), spring])
    start = mechanism.consistent_state(mechanism.assemble({"mass": (0.3, 0.0, 0.0)}))
    stop = len(calls) + 2000
    with pytest.raises(IntegrationInterrupted):
        integrate(mechanism, start, np.linspace(0.0, 10.0, 10001), progress=False)
    assert len(calls) == stop


def test_errors_are_told_with_their_arguments():
    def torn(x, y, z):
        raise RuntimeError("torn")

    assert math.isnan(call_three(address_of(torn), 1.0, 2.0, 3.0))
    function, arguments, error = last_failure()
    assert function is torn and arguments == (1.0, 2.0, 3.0) and isinstance(error, RuntimeError)
    assert last_failure() is None


def test_numbers_that_are_not_finite_are_errors():
    assert math.isnan(call_real(address_of(lambda x: math.inf), 1.0))
    assert last_failure().error == math.inf


def test_errors_are_those_of_a_thread():
    def broken(x):
        raise ValueError(str(x))

    address, seen = address_of(broken), []

    def ask(x):
        call_real(address, x)
        seen.append((x, float(str(last_failure().error))))

    threads = [threading.Thread(target=ask, args=(float(i),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8 and all(x == told for x, told in seen)
