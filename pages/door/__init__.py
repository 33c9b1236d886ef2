"""The app's door: what happens to a request before Streamlit sees it (links, sign-in, headers, closed paths)."""
