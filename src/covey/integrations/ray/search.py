"""Searcher for Ray Tune, which is told whatever comes of a trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from covey.arguments import as_result
from covey.errors import SpaceExhausted, needs, shown
from covey.integrations.ray.layout import Layout, varies
from covey.integrations.ray.state import description, layout_of, optimizer_of, read, write
from covey.optimizer import Optimizer
from covey.space import Float, Space
from covey.trial import Failure

with needs("ray"):
    from ray.tune.search import UNDEFINED_METRIC_MODE, UNDEFINED_SEARCH_SPACE, Searcher

_ANY = Space({"any": Float(0, 1)})


class CoveySearch(Searcher):
    """A searcher for Ray Tune: ``TuneConfig(search_alg=CoveySearch(seed=0), metric="loss", mode="min")``.

    It searches the ``param_space`` of the Tuner: uniform, randint, their log and quantized forms and choice,
    nested as you like, constants among them. Trials in flight are known to the model, so it needs no limit
    of concurrency; a ``ConcurrencyLimiter`` works. A trial that ends with an error, without the metric or
    with NaN is a failure, which the model remembers and avoids. A scheduler may stop trials early: the last
    value reported is a trial's value. What ``sample_from`` computes is up to Tune, and not seen by the model.

    Args:
        space: instead of the Tuner's: a ``covey.Space`` ("model/depth" is nested) or a dict like param_space.
        metric: what is optimized; None takes that of the TuneConfig.
        mode: "min" or "max"; None takes that of the TuneConfig.
        points_to_evaluate: configurations to begin with, each with a value for all that varies.
        **settings: of the ``covey.Optimizer``: strategy, acquisition, seed, noise, prior, n_initial, initial.
    """

    CKPT_FILE_TMPL = "searcher-state-{}.json"

    def __init__(
        self,
        space: Space | Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        *,
        points_to_evaluate: Sequence[Mapping[str, Any]] = (),
        **settings: Any,
    ) -> None:
        if mode not in (None, "min", "max"):
            raise ValueError(f"mode must be 'min' or 'max', got {shown(mode)}")
        super().__init__(metric=metric, mode=mode)
        self._metric, self._mode = metric, mode
        Optimizer(_ANY, **settings)  # wrong settings are told now, not when the run has begun
        self._settings = settings
        self._points = list(points_to_evaluate or ())
        self._layout: Layout | None = None
        self._optimizer: Optimizer | None = None
        self._queue: list[int] = []
        self._live: dict[str, int] = {}
        self._told: list[int] = []  # in the order of arrival, which the model depends on
        if space is not None:
            self._begin(Layout(space))

    def set_search_properties(
        self, metric: str | None, mode: str | None, config: Mapping[str, Any], **_spec: Any
    ) -> bool:
        """Take what the Tuner was given; False if there is another space already."""
        self._metric, self._mode = metric or self._metric, mode or self._mode
        if self._layout is None:
            self._begin(Layout(config))
            return True
        return varies(config) and description(Layout(config).space) == description(self._layout.space)

    def suggest(self, trial_id: str) -> dict[str, Any] | str:
        """The next configuration; FINISHED when a finite space is used up."""
        layout, optimizer = self._ready()
        try:
            index = self._queue.pop(0) if self._queue else optimizer.ask()[0].id
        except SpaceExhausted:
            return str(Searcher.FINISHED)
        self._live[trial_id] = index
        return layout.fill(optimizer.trials[index].params)

    def on_trial_complete(
        self, trial_id: str, result: Mapping[str, Any] | None = None, error: bool = False
    ) -> None:
        """Tell the model; nothing is told of a trial that is not known, as may be after a restore."""
        if trial_id in self._live:
            _, optimizer = self._ready()
            index = self._live.pop(trial_id)
            optimizer.tell(index, self._outcome(result or {}, error))
            self._told.append(index)

    def add_evaluated_point(
        self,
        parameters: Mapping[str, Any],
        value: float,
        error: bool = False,
        *_ignored: Any,  # whether it was pruned, and values on the way
        **_named: Any,
    ) -> None:
        """Tell the model of a configuration that was evaluated elsewhere."""
        layout, optimizer = self._ready()
        trial = optimizer.add(layout.read(parameters), self._outcome({self._metric: value}, error))
        self._told.append(trial.id)

    def save(self, checkpoint_path: str) -> None:
        """Write all that is known to a JSON file; Tune does so as it goes."""
        if self._layout is not None and self._optimizer is not None:
            rest = {"metric": self._metric, "mode": self._mode}
            trials = {"live": self._live, "queue": self._queue, "told": self._told}
            write(checkpoint_path, self._layout, self._optimizer, rest | trials)

    def restore(self, checkpoint_path: str) -> None:
        """Go on from a saved file, which also says what Tune tells only once: space, metric and mode."""
        saved = read(checkpoint_path)
        layout = self._layout or layout_of(saved)
        self._optimizer = optimizer_of(saved, layout.space, self._settings)
        self._layout = layout
        self._metric, self._mode = self._metric or saved["metric"], self._mode or saved["mode"]
        self._live, self._queue, self._told = dict(saved["live"]), list(saved["queue"]), list(saved["told"])

    def _begin(self, layout: Layout) -> None:
        """A new optimizer, and the user's points for it to begin with."""
        optimizer = Optimizer(layout.space, **self._settings)
        self._queue = [optimizer.include(layout.read(point)).id for point in self._points]
        self._layout, self._optimizer = layout, optimizer

    def _ready(self) -> tuple[Layout, Optimizer]:
        name = type(self).__name__
        if self._layout is None or self._optimizer is None:
            raise RuntimeError(UNDEFINED_SEARCH_SPACE.format(cls=name, space="space"))
        if not self._metric or not self._mode:
            raise RuntimeError(UNDEFINED_METRIC_MODE.format(cls=name, metric=self._metric, mode=self._mode))
        return self._layout, self._optimizer

    def _outcome(self, result: Mapping[Any, Any], error: bool) -> float | Failure:
        """What to minimise, or why there is nothing."""
        if error:
            return Failure("the trial ended with an error")
        if self._metric not in result:
            return Failure(f"the trial did not report {shown(self._metric)}")
        try:
            outcome = as_result(result[self._metric])
        except TypeError as wrong:
            return Failure(str(wrong))
        return -outcome if self._mode == "max" and not isinstance(outcome, Failure) else outcome
