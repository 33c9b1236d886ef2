"""Results as plotly figures, one module per subject, without Streamlit and without statistics."""
