"""The model: Gaussian processes whose hyper-parameters are sampled."""
