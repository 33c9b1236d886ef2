"""Can this judge be trusted for a use? The verdict and what stands behind it."""
