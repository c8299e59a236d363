"""Tuning: machine learning models on data, HIGGS among them."""
