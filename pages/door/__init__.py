"""The app's door: handles requests before Streamlit does (links, sign-in, headers, closed paths)."""
