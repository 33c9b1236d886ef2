"""Long jobs over the items of a file, in a separate process: saved item by item, cancelled and resumed."""
