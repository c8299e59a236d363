"""How well does it do? Problems with known answers, and runs on them."""
