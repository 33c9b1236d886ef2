"""Which metric follows quality?"""
