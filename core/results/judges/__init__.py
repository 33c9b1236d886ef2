"""What judges' own scores and records say of them."""
