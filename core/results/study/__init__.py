"""What a blind study says."""
