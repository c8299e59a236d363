"""Random histories: no crash, no value lost, no configuration asked for twice."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import covey
from covey import Categorical, Failure, Float, Int, Space, State

SPACES = {
    "float": Space({"x": Float(0, 1), "y": Float(1e-6, 1e6, log=True)}),
    "mixed": Space({"x": Float(-1, 1), "n": Int(1, 50, log=True), "k": Categorical(["a", None, (1, 2)])}),
    "finite": Space({"n": Int(-1, 3), "k": Categorical(["a", "b", "c"])}),
    "large finite": Space({"n": Int(0, 60), "m": Int(1, 60, log=True)}),
}
ORDINARY = st.floats(-10, 10)
ANY = st.one_of(ORDINARY, ORDINARY, st.floats(), st.sampled_from([1e300, -1e300, 1e-300, 0.0, 5e-324]))
SHARE = st.floats(0, 1, exclude_max=True)


def is_failure(value):
    return isinstance(value, Failure) or not math.isfinite(value)


class History(RuleBasedStateMachine):
    """An optimizer, and beside it a dict of what it was told."""

    space: Space

    @initialize(seed=st.integers(0, 2**32), noise=st.sampled_from(["learn", 0.0, 0.1]))
    def start(self, seed, noise):
        # The seed decides, because drawn from a list the first few would come nearly always.
        rng = np.random.default_rng([seed, len(repr(self.space))])
        strategy = covey.strategy(str(rng.choice(covey.strategies())), s=2)
        n_initial = int(rng.integers(4))
        self.opt = covey.Optimizer(self.space, strategy, noise=noise, n_initial=n_initial, seed=seed)
        self.params, self.told = [], {}

    @property
    def waiting(self):
        return [k for k in range(len(self.params)) if k not in self.told]

    @property
    def used(self):
        """Keys of all configurations seen."""
        return {self.space.encode(params).tobytes() for params in self.params}

    @rule(n=st.integers(1, 4))
    def ask(self, n):
        used, size = self.used, self.space.size
        try:
            batch = self.opt.ask(n)
        except covey.SpaceExhausted:
            assert size is not None
            assert len(used) == size, f"{size - len(used)} configurations are left"
            return
        assert len(batch) == (n if size is None else min(n, size - len(used)))
        for trial in batch:
            assert trial.id == len(self.params)
            assert trial.params not in self.params, "asked for twice"
            self.params.append(trial.params)
        assert len(self.used) == len(used) + len(batch), "asked for twice"

    @rule(n=st.integers(1, 3), values=st.lists(ANY, min_size=3, max_size=3))
    def ask_and_tell(self, n, values):
        known = len(self.params)
        self.ask(n)
        ids = list(range(known, len(self.params)))
        self.opt.tell(ids, values[: len(ids)])
        self.told.update(zip(ids, values, strict=False))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data())
    def tell_some(self, data):
        ids = data.draw(st.lists(st.sampled_from(self.waiting), unique=True, min_size=1, max_size=4))
        values = [data.draw(ANY) for _ in ids]
        trials = self.opt.trials
        self.opt.tell([trials[k] for k in ids], values)
        self.told.update(zip(ids, values, strict=True))

    @precondition(lambda self: self.waiting)
    @rule(value=ORDINARY)
    def tell_the_oldest(self, value):
        trial = self.opt.pending[0]
        self.opt.tell(trial, value)
        self.told[trial.id] = value

    @precondition(lambda self: self.waiting)
    @rule(reason=st.text(max_size=5))
    def fail_the_newest(self, reason):
        index = self.waiting[-1]
        self.opt.tell(index, Failure(reason))
        self.told[index] = Failure(reason)

    @rule(value=ANY, shares=st.lists(SHARE, min_size=3, max_size=3))
    def add_a_result_from_elsewhere(self, value, shares):
        row = self.space.spread(np.array([shares[: len(self.space)]]))[0]
        self._add(self.space.decode(row), value)

    @precondition(lambda self: self.params)
    @rule(value=ANY, data=st.data())
    def add_a_duplicate(self, value, data):
        self._add(data.draw(st.sampled_from(self.params)), value)

    def _add(self, params, value):
        trial = self.opt.add(params, value)
        assert trial.id == len(self.params)
        self.told[trial.id] = value
        self.params.append(trial.params)

    @rule()
    def pickle_and_unpickle(self):
        self.opt = pickle.loads(pickle.dumps(self.opt))

    @rule(data=st.data())
    def do_what_is_refused(self, data):
        with pytest.raises(covey.UnknownTrial):
            self.opt.tell(len(self.params), 0.0)
        with pytest.raises(ValueError, match="whole number"):
            self.opt.ask(0)
        if self.told:
            with pytest.raises(covey.AlreadyTold):
                self.opt.tell(data.draw(st.sampled_from(sorted(self.told))), 0.0)

    @invariant()
    def nothing_is_lost_and_nothing_is_invented(self):
        trials = self.opt.trials
        assert [t.id for t in trials] == list(range(len(self.params)))
        assert [t.params for t in trials] == self.params
        for trial in trials:
            if trial.id not in self.told:
                assert trial.state is State.RUNNING
            elif is_failure(self.told[trial.id]):
                assert (trial.state, trial.value) == (State.FAILED, None)
            else:
                assert (trial.state, trial.value) == (State.COMPLETE, self.told[trial.id])

    @invariant()
    def pending_is_what_waits(self):
        assert [t.id for t in self.opt.pending] == self.waiting

    @invariant()
    def best_is_the_lowest_value(self):
        values = [value for value in self.told.values() if not is_failure(value)]
        best = self.opt.best
        assert (best.value if best else None) == min(values, default=None)

    @invariant()
    def configurations_belong_to_the_space(self):
        assert all(set(params) == set(self.space.dimensions) for params in self.params)
        _ = self.used


def machine(space, **how):
    """A test case over one space."""
    case = type("SpaceHistory", (History,), {"space": SPACES[space]}).TestCase
    case.settings = settings(
        deadline=None,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        **how,
    )
    return case


SHORT = {"max_examples": 40, "stateful_step_count": 20, "derandomize": True}
LONG = {"max_examples": 20, "stateful_step_count": 50}  # 4,000 steps over the four spaces

TestFloatSpace = machine("float", **SHORT)
TestMixedSpace = machine("mixed", **SHORT)
TestFiniteSpace = machine("finite", **SHORT)
TestLargeFiniteSpace = machine("large finite", **SHORT)
TestFloatSpaceForLong = pytest.mark.slow(machine("float", **LONG))
TestMixedSpaceForLong = pytest.mark.slow(machine("mixed", **LONG))
TestFiniteSpaceForLong = pytest.mark.slow(machine("finite", **LONG))
TestLargeFiniteSpaceForLong = pytest.mark.slow(machine("large finite", **LONG))
