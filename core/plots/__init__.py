"""Results as plotly figures, one module a subject; no Streamlit, no statistics."""
