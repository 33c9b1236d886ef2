"""One file a page: render() is the only public name and nothing happens at import (Streamlit may run the files)."""
