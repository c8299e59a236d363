"""Stack of Gaussian process posteriors, one for each theta.

The stack has one leading axis S, one entry per theta, in every array. A posterior conditioned on more
points is another posterior; nothing is ever written into one. ``native`` has the notation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from covey.arrays import Array
from covey.model.native import covariance, prediction
from covey.model.native.threads import in_slices
from covey.model.paths import PathStack, draw_waves
from covey.model.surrogate import Prediction
from covey.model.theta import Thetas

_LEAST_VARIANCE = 1e-16
"""The floor of a predicted variance, relative to the signal's: rounding must not make it negative."""

_WORTH_A_THREAD = 20_000
"""Numbers of covariances below which a second thread costs more than it saves."""


@dataclass(frozen=True)
class GPStack:
    """Gaussian process posteriors, one per theta.

    Attributes:
        x: features of the points conditioned on, feature-major (D, n).
        thetas: the stack's hyper-parameters.
        chol: Cholesky factors, transposed lower triangles (S, n, n).
        white: whitened residuals L^-1 (y - c) (S, n).
        alpha: L^-T white (S, n).
        noise: the noise variance of the observations (S, n).
        nugget: what else it took to factorise the covariance, added to its diagonal (S,).
        best: lowest posterior mean at an observed point (S, 1).
    """

    x: Array
    thetas: Thetas
    chol: Array
    white: Array
    alpha: Array
    noise: Array
    nugget: Array
    best: Array

    def predict(self, points: Array) -> tuple[Array, Array]:
        """Posterior mean and standard deviation (S, m) of the noise-free objective at points (m, D)."""
        nothing = np.empty((len(self.thetas), 0, 0))
        return self._moments(points, nothing, nothing)

    def predict_gradient(self, points: Array) -> Prediction:
        """As ``predict``, with gradients in the points."""
        of_mean = np.empty((len(self.thetas), *points.shape))
        of_variance = np.empty_like(of_mean)
        mean, std = self._moments(points, of_mean, of_variance)
        # d std = d variance / (2 std), and std has a floor: no division by 0 on top of a noise-free point.
        return Prediction(mean, std, of_mean, of_variance / (2 * std[..., None]))

    def _moments(self, points: Array, of_mean: Array, of_variance: Array) -> tuple[Array, Array]:
        """Mean and standard deviation (S, m); gradients (S, m, D) are written where there is room."""
        t, weights = self.thetas, self.thetas.weights
        mean, variance = np.empty((2, len(t), len(points)))

        def work(part: slice) -> None:
            prediction.predict(
                self.x,
                points,
                weights[part],
                t.variance[part],
                self.chol[part],
                self.alpha[part],
                mean[part],
                variance[part],
                of_mean[part],
                of_variance[part],
            )

        in_slices(work, len(t), self._smallest_slice(len(points)))
        return t.mean[:, None] + mean, np.sqrt(self._floored(variance))

    def condition(self, points: Array) -> GPStack:
        """The posterior given k further points (k, D), each theta's own mean for their values.

        That leaves the mean where it is and shrinks the standard deviation (B-LCB's hallucination).
        """
        if len(points) == 0:
            return self
        grown = self._extended(points)
        return replace(grown, alpha=_alpha(grown.chol, grown.white))

    def fantasise(self, points: Array, rng: np.random.Generator) -> GPStack:
        """The posterior given values at k further points (k, D) that are drawn from it, each theta its own.

        Averaged over the stack, the expected improvement of one more point is then that of a batch with the
        points in it (Snoek et al. 2012). The whitened residuals of a draw are independent normals.
        """
        if len(points) == 0:
            return self
        return self._extended(points)._with_white(rng.normal(size=(len(self.thetas), len(points))))

    def noiseless(self, rng: np.random.Generator) -> GPStack:
        """The posterior given values without noise at the same n points, drawn from it, each theta its own.

        Averaged over the stack, the expected improvement is then the one over the best point that there is,
        whichever it is, and none where a point is already: noisy EI (Letham et al. 2019). By Matheron's rule
        g = g0 + K (K + diag e)^-1 (r - g0 - noise), with g0 = L u, K = L L^T and u normal; so that the
        whitened residuals are u + L^T (K + diag e)^-1 (r - g0 - noise).
        """
        if not self.thetas.noise.any():
            return self
        nothing = np.zeros_like(self.noise)
        chol, nugget = _factorise(self.x, self.thetas, nothing)
        normal, noise = rng.normal(size=(2, *self.white.shape))
        # The two factors have nuggets of their own; what the noisy one has more of counts as noise.
        noise *= np.sqrt(np.maximum(self.noise + (self.nugget - nugget)[:, None], 0.0))
        noise += _times(chol, normal)  # g0 + noise
        covariance.solve(self.chol, noise[:, None, :], False)
        rest = _alpha(self.chol, self.white - noise)
        covariance.multiply(chol, rest, True)
        return replace(self, chol=chol, noise=nothing, nugget=nugget)._with_white(normal + rest)

    def paths(self, rng: np.random.Generator) -> PathStack:
        """One whole function drawn from each posterior."""
        waves = draw_waves(self.thetas, rng)
        noise = rng.normal(size=self.noise.shape) * np.sqrt(self.noise + self.nugget[:, None])
        drawn = np.ascontiguousarray(waves.value(self.x.T) + noise)
        # (K + diag e)^-1 of what the prior draw would have been observed as, to be taken from alpha.
        covariance.solve(self.chol, drawn[:, None, :], False)
        covariance.solve(self.chol, drawn[:, None, :], True)
        return PathStack(self.x, self.thetas, waves, self.alpha - drawn, self.best)

    def _extended(self, points: Array) -> GPStack:
        """Factors for k further points (k, D), their whitened residuals zero.

        A factor grows by a block row: with A = k(points, x) L^-T and C C' = k(points, points) + e I - A A',
        the new one is [[L, 0], [A, C]]. Nothing that is there changes, so it costs n^2 k instead of n^3.
        """
        t = self.thetas
        count, n, k = len(t), self.x.shape[1], len(points)
        across = np.empty((count, k, n))
        covariance.covariances(self.x, points, self.thetas.weights, t.variance, across)
        within = np.empty((count, k, k))
        covariance.covariances(
            np.ascontiguousarray(points.T), points, self.thetas.weights, t.variance, within
        )
        covariance.solve(self.chol, across, False)
        rest = within - across @ across.transpose(0, 2, 1)
        noise = np.repeat(t.noise[:, None], k, axis=1)
        # The nugget of the first n is that of the new ones too: one model, not two.
        added = (noise + self.nugget[:, None])[..., None] * np.eye(k)
        corner = _cholesky(rest + added, covariance.NUGGET * t.variance)
        chol = np.zeros((count, n + k, n + k))
        chol[:, :n, :n] = self.chol
        chol[:, :n, n:] = across.transpose(0, 2, 1)  # transposed, as the kernels read factors column-major
        chol[:, n:, n:] = corner.transpose(0, 2, 1)
        white = np.zeros((count, n + k))
        white[:, :n] = self.white
        x = np.ascontiguousarray(np.concatenate([self.x, points.T], axis=1))
        noise = np.concatenate([self.noise, noise], axis=1)
        return replace(self, x=x, chol=chol, white=white, noise=noise)

    def _with_white(self, last: Array) -> GPStack:
        """The same with other whitened residuals (S, k) of the last k points, and what follows from them."""
        white = self.white.copy()
        white[:, white.shape[1] - last.shape[1] :] = last
        alpha = _alpha(self.chol, white)
        # L white is what was observed less the mean c; less diag(e) alpha it is K alpha, the posterior mean.
        mean = _times(self.chol, white) - (self.noise + self.nugget[:, None]) * alpha
        return replace(self, white=white, alpha=alpha, best=_lowest(self.thetas, mean))

    def _floored(self, variance: Array) -> Array:
        return np.maximum(variance, _LEAST_VARIANCE * self.thetas.variance[:, None])

    def _smallest_slice(self, points: int) -> int:
        return 1 + _WORTH_A_THREAD // max(1, int(self.x.shape[1]) * points)


def fit(points: Array, values: Array, thetas: Thetas) -> GPStack:
    """The stack of posteriors given observations.

    Args:
        points: features (n, D), n >= 1.
        values: standardised observations (n,).
        thetas: one entry for each posterior.
    """
    x = np.ascontiguousarray(points.T)
    residual, noise = thetas.seen(values)
    chol, nugget = _factorise(x, thetas, noise)
    white = residual.copy()
    covariance.solve(chol, white[:, None, :], False)
    alpha = _alpha(chol, white)
    # At the data, the posterior mean is K alpha, which is what was observed less diagonal alpha.
    best = _lowest(thetas, residual - (noise + nugget[:, None]) * alpha)
    return GPStack(x, thetas, chol, white, alpha, noise, nugget, best)


def _factorise(x: Array, thetas: Thetas, noise: Array) -> tuple[Array, Array]:
    """Transposed Cholesky factors (S, n, n) for x (D, n) with noise (S, n), and the nugget it took (S,)."""
    n, count = x.shape[1], len(thetas)
    weights, variance = thetas.weights, thetas.variance
    chol, nugget = np.empty((count, n, n)), np.empty(count)

    def work(part: slice) -> None:
        covariance.factorise(x, weights[part], variance[part], noise[part], chol[part], nugget[part])

    in_slices(work, count, 1 + _WORTH_A_THREAD // max(1, n * n))
    return chol, nugget


def _times(chol: Array, white: Array) -> Array:
    """L white (S, n), from transposed factors."""
    product = white.copy()
    covariance.multiply(chol, product, False)
    return product


def _lowest(thetas: Thetas, mean: Array) -> Array:
    """The lowest of posterior means (S, 1) that are given less the constant c (S, n)."""
    return np.asarray((thetas.mean[:, None] + mean).min(axis=1, keepdims=True))


def _alpha(chol: Array, white: Array) -> Array:
    alpha = white.copy()
    covariance.solve(chol, alpha[:, None, :], True)
    return alpha


def _cholesky(matrices: Array, nugget: Array) -> Array:
    """Lower factors (S, k, k); the diagonal grows tenfold until all exist."""
    eye = np.eye(matrices.shape[-1])
    for grow in (0.0, *10.0 ** np.arange(12)):
        try:
            return np.linalg.cholesky(matrices + grow * nugget[:, None, None] * eye)
        except np.linalg.LinAlgError:
            continue
    return np.sqrt(nugget[:, None, None] * 1e12) * eye
