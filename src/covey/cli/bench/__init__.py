"""Commands below ``covey bench``."""
