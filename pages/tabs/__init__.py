"""Tabs that several pages share."""
