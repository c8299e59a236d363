"""A wrong argument is an error that names it or shows it, says what is accepted, and stays short."""

import datetime
import logging
import math
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import covey
from covey import Acquisition, Failure, Float, Int, Jitter, Optimizer, Prior, Space, Strategy, Trial, minimize
from covey.errors import CoveyError
from covey.integrations.optuna import CoveySampler

SPACE = Space({"x": Float(0, 1)})
GAMMA = covey.Gamma(1, 1)
AXES = ["s", "p", "thetas", "surrogate", "repel", "jitter", "acquisition", "starts", "outputs", "boundary"]
SETTINGS = ["strategy", "acquisition", "noise", "prior", "n_initial", "initial", "seed"]


class Faulty:
    def __repr__(self):
        raise RuntimeError("no")


def deep():
    inner = []
    for _ in range(20_000):
        inner = [inner]
    return inner


# Nothing takes one of these.
NEVER = {
    "an object": object(),
    "an object without a repr": Faulty(),
    "lists in lists": deep(),
    "a complex number": 1j,
    "a long text": "x" * 100_000,
    "bytes": b"x" * 100_000,
    "a date": datetime.date(2020, 1, 1),
    "no time": np.datetime64("NaT"),
    "a long list": list(range(100_000)),
    "a table of a long name": {"x" * 100_000: 1},
    "below any range": -(10**6000),
    "not a number": math.nan,
}


def given_to(call, **good):
    return lambda **wrong: call(**{**good, **wrong})


def asked(method, **good):
    def call(**wrong):
        optimizer = Optimizer(SPACE, seed=0, initial="random")
        optimizer.ask(2)
        return getattr(optimizer, method)(**{**good, **wrong})

    return call


def run(**wrong):
    with ThreadPoolExecutor(1) as pool:
        known = {
            "objective": lambda params: 1.0,
            "space": SPACE,
            "evaluations": 1,
            "executor": pool,
            "seed": 0,
        }
        return minimize(**{**known, "initial": "random", "progress": False, **wrong})


# Of each callable, how it is called well, and the arguments that are given wrong in turn.
CALLS = {
    "Float": (given_to(Float, low=0, high=1), ["low", "high", "log"]),
    "Int": (given_to(Int, low=0, high=5), ["low", "high", "log"]),
    "Space": (given_to(Space), ["dimensions"]),
    "Optimizer": (given_to(Optimizer, space=SPACE), ["space", *SETTINGS]),
    "ask": (asked("ask"), ["n"]),
    "tell": (asked("tell", trial=0, value=1.0), ["trial"]),
    "include": (asked("include"), ["params"]),
    "add": (asked("add", params={"x": 0.5}, value=1.0), ["params"]),
    "minimize": (
        run,
        [
            *(
                "objective",
                "space",
                "batch_size",
                "iterations",
                "evaluations",
                "seconds",
                "target",
                "asynchronous",
            ),
            *("executor", "storage", "name", "x0", "y0", "callbacks", "timeout", "max_failures", "progress"),
            *(*SETTINGS, "bogus"),
        ],
    ),
    "Strategy": (given_to(Strategy, name="mine"), AXES),
    "strategy": (given_to(covey.strategy, name="ats"), ["name", *AXES, "bogus"]),
    "Acquisition": (
        given_to(Acquisition, name="mine", value=lambda mean, std, best, jitter: -mean),
        ["value", "partials", "scale", "jitter", "draws_paths"],
    ),
    "Jitter": (given_to(Jitter, fixed=0.0, drawn=GAMMA), ["fixed", "drawn"]),
    "Prior": (
        given_to(Prior, length_scale=GAMMA, variance=GAMMA, mean=GAMMA, noise=GAMMA),
        ["length_scale", "variance", "mean", "noise"],
    ),
    "Gamma": (given_to(covey.Gamma, shape=1, rate=1), ["shape", "rate"]),
    "LogNormal": (given_to(covey.LogNormal, mu=1, sigma=1), ["mu", "sigma"]),
    "Normal": (given_to(covey.Normal, mu=1, sigma=1), ["mu", "sigma"]),
    "Uniform": (given_to(covey.Uniform, low=0, high=1), ["low", "high"]),
    "LogUniform": (given_to(covey.LogUniform, low=0, high=1), ["low", "high"]),
    "Beta": (given_to(covey.Beta, a=1, b=1), ["a", "b"]),
    "CoveySampler": (given_to(CoveySampler), [*SETTINGS, "search_space", "independent_sampler"]),
}


def complaint(call, argument, value):
    """What is said about a wrong value; it names the argument or shows the value, and stays short."""
    with pytest.raises((TypeError, ValueError, CoveyError)) as caught:
        call(**{argument: value})
    message = str(caught.value)
    check(argument, value, message)
    return message


def check(argument, value, message):
    assert len(message) <= 500
    assert "\n" not in message
    named = argument if len(argument) == 1 else argument.removesuffix("s")
    assert re.search(rf"\b{named}", message) or covey.errors.shown(value) in message


@pytest.mark.parametrize(
    ("name", "argument"),
    [(name, argument) for name, (_, arguments) in CALLS.items() for argument in arguments],
)
def test_a_wrong_argument_is_named_or_shown(name, argument):
    call = CALLS[name][0]
    for value in NEVER.values():
        complaint(call, argument, value)


# Callable, argument and value, and what is said of it.
SLIPS = [
    ("minimize", "asynchronous", "no", "True or False, got 'no'"),
    ("minimize", "progress", "no", "True or False, got 'no'"),
    ("minimize", "batch_size", None, "whole number from 1 to 10000, got None"),
    ("minimize", "batch_size", 10**30, "whole number from 1 to 10000"),
    ("minimize", "seconds", 1e10, "seconds up to 315360000, or None for no limit, got 10000000000.0"),
    ("minimize", "seconds", 10**400, "positive number of seconds"),
    ("minimize", "timeout", 1e308, "seconds up to 1728000, or None for no limit, got 1e+308"),
    ("minimize", "target", 10**400, "finite number"),
    ("minimize", "noise", 10**400, "standard deviation"),
    ("minimize", "y0", 5, "y0 must be a list of values, got 5"),
    ("minimize", "x0", {"x": 0.5}, "x0 must be a list of configurations, got {'x': 0.5}"),
    ("minimize", "x0", "abc", "x0 must be a list of configurations, got 'abc'"),
    ("minimize", "x0", [{"x": 7}], "x0: parameter 'x': 7 is not a number in [0, 1]"),
    ("minimize", "storage", 5, "storage must be"),
    ("minimize", "name", "a\0b", "printable characters, got 'a\\x00b'"),
    ("minimize", "name", "", "non-empty string"),
    ("minimize", "executor", ThreadPoolExecutor, "executor must be a concurrent.futures.Executor"),
    ("minimize", "callbacks", "", "list of functions"),
    ("ask", "n", 10**9, "whole number from 1 to 10000, got 1000000000"),
    ("tell", "trial", Trial("0", {}), "covey.Trial"),
    ("tell", "trial", Trial(0, {"x": np.zeros(3)}), "was asked for here as"),
    ("Strategy", "name", 5, "name must be a non-empty string, got 5"),
    ("Strategy", "s", 10**30, "s must be a whole number from 1 to 10000 or 'auto'"),
    ("Jitter", "drawn", covey.Gamma, "a distribution such as"),
    ("LogUniform", "high", 400, "within -300 to 300"),
    ("CoveySampler", "search_space", {"x": 1}, "name -> optuna"),
    ("CoveySampler", "independent_sampler", optuna.samplers.RandomSampler, "an Optuna sampler or None"),
]


@pytest.mark.parametrize(("name", "argument", "value", "part"), SLIPS, ids=[f"{s[0]}-{s[1]}" for s in SLIPS])
def test_a_slip_is_told_with_what_is_accepted(name, argument, value, part):
    assert part in complaint(CALLS[name][0], argument, value)


@given(
    value=st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.lists(st.integers(), max_size=2),
    place=st.sampled_from(
        [(name, argument) for name, (_, arguments) in CALLS.items() for argument in arguments]
    ).filter(lambda place: place[0] != "minimize"),
)
@settings(max_examples=150, deadline=None, derandomize=True)
def test_any_plain_value_is_taken_or_refused_by_name(place, value):
    name, argument = place
    try:
        CALLS[name][0](**{argument: value})
    except (TypeError, ValueError, CoveyError) as error:
        check(argument, value, str(error))


def test_points_of_a_generator_are_all_evaluated():
    result = run(evaluations=3, x0=({"x": x} for x in (0.1, 0.2, 0.3)))
    assert [trial.params["x"] for trial in result.trials] == [0.1, 0.2, 0.3]


def test_values_of_a_generator_are_all_known():
    result = run(x0=({"x": x} for x in (0.1, 0.2)), y0=(y for y in (-1.0, -2.0)))
    assert result.best.value == -2.0


def test_a_run_without_any_value_says_so(caplog):
    def broken(params):
        raise OSError("the instrument is off")

    with caplog.at_level(logging.WARNING, "covey.minimize"):
        result = run(objective=broken, evaluations=3)
    assert result.best is None
    (record,) = caplog.records
    assert "all 3 evaluations failed" in record.getMessage()
    assert record.getMessage().endswith("OSError: the instrument is off")


def test_a_run_with_a_value_says_nothing(caplog):
    run(objective=lambda params, trial: 1.0 if trial.id else Failure("once"), evaluations=2)
    assert not caplog.records


@pytest.mark.parametrize(
    ("reason", "text"),
    [(OSError("off"), "OSError: off"), (None, ""), (5, "5"), (Faulty(), "<Faulty that cannot be shown>")],
    ids=["exception", "none", "number", "faulty"],
)
def test_a_reason_of_any_kind_is_kept_as_text(reason, text):
    assert Failure(reason).reason == text
