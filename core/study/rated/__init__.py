"""Studies in which texts are rated one by one."""
