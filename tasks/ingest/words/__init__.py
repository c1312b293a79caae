"""What papers print: labels, names of types, answer marks, column names; cleaning.

It uses no room.
"""
