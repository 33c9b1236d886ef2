"""Cross-examination: questions made from each of two texts are answered from the other."""
