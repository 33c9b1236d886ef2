"""One file a page: render() is the only public name and nothing happens at import (Streamlit may run the files)."""

import logging

# The server imports the pages before it has a runtime, and Streamlit warns once for each cache that it finds then.
logging.getLogger("streamlit.runtime.caching.cache_data_api").addFilter(
    lambda record: not record.getMessage().startswith("No runtime found")
)
