"""The claims judge: claims of a text and of its reference, each verified against the other text."""
