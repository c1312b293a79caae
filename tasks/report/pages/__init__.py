"""What each page of the report site reads and says, a module a page."""
