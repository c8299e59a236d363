"""CoveySearch as Ray Tune calls it, without a Ray cluster."""

import json
import math
import pickle

import pytest

import covey

tune = pytest.importorskip("ray.tune", reason="ray[tune] is not installed: pip install 'covey[ray]'")

from ray.tune.search import ConcurrencyLimiter, Searcher  # noqa: E402

from covey.integrations.ray import CoveySearch  # noqa: E402

CONFIG = {"x": tune.uniform(0, 1), "net": {"depth": tune.randint(1, 9)}, "data": "mnist"}


def searcher(mode="min", **settings):
    search = CoveySearch(seed=0, **settings)
    assert search.set_search_properties("loss", mode, CONFIG, name="a run")
    return search


def run(search, count, score=lambda c: (c["x"] - 0.3) ** 2 + c["net"]["depth"], first=0):
    """Suggest and complete, one by one; the configs."""
    configs = []
    for k in range(first, first + count):
        configs.append(search.suggest(f"t{k}"))
        search.on_trial_complete(f"t{k}", {"loss": score(configs[-1]), "done": True})
    return configs


def test_is_a_searcher_under_its_public_name():
    assert issubclass(CoveySearch, Searcher)
    import covey.integrations.ray as module

    assert "CoveySearch" in module.__all__
    with pytest.raises(AttributeError, match="no attribute 'NoSuch'"):
        module.NoSuch  # noqa: B018


@pytest.mark.parametrize(("mode", "depth"), [("min", 1), ("max", 8)])
def test_it_learns_in_the_direction_asked_for(mode, depth):
    search = searcher(mode)
    run(search, 14)
    assert search._optimizer.best.params["net/depth"] == depth


def test_the_same_seed_gives_the_same_configs():
    assert run(searcher(), 8) == run(searcher(), 8)


def test_trials_in_flight_are_not_suggested_again():
    search = searcher()
    run(search, 6)
    flight = [search.suggest(f"f{k}") for k in range(6)]
    assert len({(config["x"], config["net"]["depth"]) for config in flight}) == 6


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (None, False),
        ({}, False),
        (None, True),
        ({"loss": 1.0}, True),
        ({"other": 1}, False),
        ({"loss": math.nan}, False),
        ({"loss": -math.inf}, False),
        ({"loss": None}, False),
        ({"loss": "low"}, False),
    ],
)
@pytest.mark.parametrize("mode", ["min", "max"])
def test_whatever_a_trial_ends_with_it_is_a_failure_and_the_search_goes_on(mode, result, error):
    search = searcher(mode)
    run(search, 5)
    search.suggest("bad")
    search.on_trial_complete("bad", result, error)
    assert search._optimizer.trials[5].state == "failed"
    assert search._optimizer.trials[5].reason
    assert "x" in search.suggest("next")


def test_a_trial_nobody_knows_is_ignored():
    search = searcher()
    search.on_trial_complete("stranger", {"loss": 1.0})
    search.suggest("a")
    search.on_trial_complete("a", {"loss": 1.0})
    search.on_trial_complete("a", {"loss": 2.0})
    assert [trial.value for trial in search._optimizer.trials] == [1.0]


def test_a_finite_space_ends():
    search = CoveySearch({"k": tune.choice([1, 2, 3])}, metric="loss", mode="min", seed=0)
    seen = [search.suggest(str(k)) for k in range(3)]
    assert sorted(config["k"] for config in seen) == [1, 2, 3]
    assert search.suggest("more") == Searcher.FINISHED


def test_the_users_points_come_first_and_are_known_to_the_model():
    points = [{"x": 0.25, "net": {"depth": 3}}, {"x": 0.5, "net": {"depth": 4}, "data": "mnist"}]
    search = searcher(points_to_evaluate=points)
    assert run(search, 2) == [{"x": 0.25, "net": {"depth": 3}}, {"x": 0.5, "net": {"depth": 4}}]
    assert run(search, 1, first=2)[0] not in points
    with pytest.raises(ValueError, match="'net/depth' is missing"):
        searcher(points_to_evaluate=[{"x": 0.1}])
    with pytest.raises(ValueError, match="'x'"):
        searcher(points_to_evaluate=[{"x": 7, "net": {"depth": 3}}])


def test_points_from_elsewhere_are_learnt_from():
    search = searcher("max")
    search.add_evaluated_point({"x": 0.5, "net": {"depth": 4}, "data": "mnist"}, 3.0)
    search.add_evaluated_point({"x": 0.6, "net": {"depth": 4}}, 0.0, error=True, pruned=False)
    assert [trial.value for trial in search._optimizer.trials] == [-3.0, None]


def test_metric_and_mode_come_from_either_side():
    own = CoveySearch(covey.Space({"x": covey.Float(0, 1)}), metric="loss", mode="min")
    assert own.suggest("a").keys() == {"x"}
    late = CoveySearch(covey.Space({"x": covey.Float(0, 1)}))
    assert not late.set_search_properties("loss", "max", {"data": "mnist"})  # nothing in it to search
    assert (late.metric, late.mode) == ("loss", "max")
    assert late.suggest("a").keys() == {"x"}


def test_another_space_than_its_own_is_refused_and_the_same_goes_on():
    search = searcher()
    run(search, 3)
    assert search.set_search_properties("loss", "min", CONFIG)
    assert len(search._optimizer.trials) == 3
    assert not search.set_search_properties("loss", "min", {"x": tune.uniform(0, 2)})


def test_what_is_missing_is_said():
    with pytest.raises(RuntimeError, match="no search space has been defined"):
        CoveySearch(metric="loss", mode="min").suggest("a")
    with pytest.raises(RuntimeError, match="`metric`"):
        CoveySearch({"x": tune.uniform(0, 1)}).suggest("a")


@pytest.mark.parametrize(
    "wrong",
    [{"mode": "best"}, {"strategy": "no such"}, {"seed": -1}, {"acquisition": "no such"}, {"sed": 1}],
)
def test_wrong_settings_are_told_at_once(wrong):
    with pytest.raises((ValueError, TypeError)):
        CoveySearch(**wrong)


def saved(search, tmp_path):
    path = tmp_path / "state.json"
    search.save(str(path))
    return str(path)


def interrupted():
    """Told, failed, running and waiting trials."""
    search = searcher(points_to_evaluate=[{"x": k / 8, "net": {"depth": k}} for k in range(1, 8)])
    run(search, 5)
    search.suggest("failing")
    search.on_trial_complete("failing", error=True)
    search.suggest("running")
    search.suggest("running too")
    return search


def state(search):
    trials = [(t.params, t.state, t.value, t.reason) for t in search._optimizer.trials]
    return trials, search._live, search._queue, search._optimizer.seed


@pytest.mark.parametrize("told", ["never", "before", "after"])
def test_a_restored_search_is_the_one_that_was_saved(tmp_path, told):
    """Whenever the Tuner tells its space again, if it does."""
    search = interrupted()
    path = saved(search, tmp_path)
    again = searcher() if told == "before" else CoveySearch()
    again.restore(path)
    if told == "after":
        assert again.set_search_properties("loss", "min", CONFIG)
    assert (again.metric, again.mode) == ("loss", "min")
    assert state(again) == state(search)
    again.on_trial_complete("running", {"loss": 0.125})
    assert again._optimizer.trials[6].value == 0.125
    assert run(again, 2, first=20)[0] not in [trial.params for trial in search._optimizer.trials]


def test_a_restored_search_tells_in_the_order_of_arrival(tmp_path, monkeypatch):
    """And so suggests what the live one does: the model depends on the order."""
    fast = covey.strategy("auto", s=2)
    search = searcher(strategy=fast)
    configs = {f"t{k}": search.suggest(f"t{k}") for k in range(8)}
    for name in ("t6", "t2", "t7", "t0", "t5", "t1"):
        loss = (configs[name]["x"] - 0.3) ** 2 + configs[name]["net"]["depth"]
        search.on_trial_complete(name, {"loss": loss}, error=name == "t7")
    search.add_evaluated_point({"x": 0.5, "net": {"depth": 2}}, 2.5)
    search.on_trial_complete("t3", {"loss": 4.5})
    told, tell = [], covey.Optimizer.tell
    monkeypatch.setattr(covey.Optimizer, "tell", lambda o, k, value: (told.append(k), tell(o, k, value)))
    again = CoveySearch(strategy=fast)
    again.restore(saved(search, tmp_path))
    again.restore(saved(again, tmp_path))
    assert told == [6, 2, 7, 0, 5, 1, 8, 3] * 2
    assert [again.suggest(f"n{k}") for k in range(2)] == [search.suggest(f"n{k}") for k in range(2)]


def test_choices_that_are_no_data_are_the_same_in_another_process(tmp_path):
    """Their repr has an address."""

    def search():
        return CoveySearch(covey.Space({"f": covey.Categorical([object(), object()])}), "loss", "min")

    first, again = search(), search()
    first.suggest("a")
    again.restore(saved(first, tmp_path))
    assert len(again._optimizer.trials) == 1


def test_the_tuners_choice_is_the_spaces_categorical():
    own = CoveySearch(covey.Space({"c": covey.Categorical(["a", "b"])}))
    assert own.set_search_properties("loss", "min", {"c": tune.choice(["a", "b"])})
    assert not own.set_search_properties("loss", "min", {"c": tune.choice(["a", "c"])})


def test_points_that_wait_are_kept(tmp_path):
    points = [{"x": 0.25, "net": {"depth": 3}}, {"x": 0.5, "net": {"depth": 4}}]
    search = searcher(points_to_evaluate=points)
    search.suggest("a")
    path = saved(search, tmp_path)
    again = searcher(points_to_evaluate=points)
    again.restore(path)
    assert again.suggest("b") == points[1]


def test_restored_twins_suggest_the_same(tmp_path):
    path = saved(interrupted(), tmp_path)
    twins = [CoveySearch(), CoveySearch()]
    for twin in twins:
        twin.restore(path)
    assert run(twins[0], 3, first=30) == run(twins[1], 3, first=30)


def test_states_are_json_and_choices_need_not_be(tmp_path):
    space = {"act": tune.choice([math.tanh, math.exp]), "sizes": tune.choice([[1], [2], [3]])}
    search = CoveySearch(space, metric="loss", mode="min", seed=0)
    search.suggest("a")
    path = saved(search, tmp_path)
    with open(path) as file:
        assert set(json.load(file)) == {
            *("format", "tree", "space", "seed", "trials"),
            *("metric", "mode", "live", "queue", "told"),
        }
    with pytest.raises(ValueError, match="give it to CoveySearch before"):
        CoveySearch().restore(path)
    again = CoveySearch(space, metric="loss", mode="min")
    again.restore(path)
    assert state(again) == state(search)


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", pickle.dumps({"a": 1}), b"\xff\xfe"], ids=str)
def test_a_file_of_something_else_is_refused_and_never_unpickled(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="not saved by this version of CoveySearch"):
        CoveySearch().restore(str(path))


def test_a_state_of_another_space_is_refused(tmp_path):
    path = saved(interrupted(), tmp_path)
    other = CoveySearch({"x": tune.uniform(0, 2)}, metric="loss", mode="min")
    with pytest.raises(ValueError, match="another space"):
        other.restore(path)


def test_tunes_own_saving_finds_the_file_again(tmp_path):
    search = interrupted()
    search.save_to_dir(str(tmp_path), "2026-01-01")
    again = searcher()
    again.restore_from_dir(str(tmp_path))
    assert state(again) == state(search)
    CoveySearch().save_to_dir(str(tmp_path / "nothing yet"), "x")


def test_a_concurrency_limiter_holds_and_restores(tmp_path):
    limited = ConcurrencyLimiter(searcher(), max_concurrent=2)
    assert limited.suggest("a")
    assert limited.suggest("b")
    assert limited.suggest("c") is None
    path = saved(limited, tmp_path)
    again = ConcurrencyLimiter(searcher(), max_concurrent=2)
    again.set_state(limited.get_state())
    again.restore(path)
    assert again.suggest("c") is None
    again.on_trial_complete("a", {"loss": 1.0})
    assert again.suggest("c")
    assert again.searcher._optimizer.trials[0].value == 1.0


def test_pickles_with_trials_in_flight():
    search = interrupted()
    again = pickle.loads(pickle.dumps(search))
    assert state(again) == state(search)
