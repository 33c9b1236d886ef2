"""What flows through Assay, and the types of objects that any layer exports."""
