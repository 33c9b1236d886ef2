"""Long work over the items of a file: in a process of its own, saved item by item, cancelled and resumed."""
