"""Tabs that several pages have."""
