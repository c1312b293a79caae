"""The Excel workbook."""
