# SPDX-License-Identifier: BSD-3-Clause
"""Makes a pivot table of a file of tab-separated values in LibreOffice, and prints its lines.

    pivot.py FILE LANGUAGE ROWS COLUMNS DATA    (names of columns; the pivot has sums of DATA)

Debian's python3-uno is for Debian's Python.
"""

import os
import subprocess
import sys
import tempfile
import time

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
from com.sun.star.sheet.DataPilotFieldOrientation import COLUMN, DATA, ROW
from com.sun.star.sheet.GeneralFunction import SUM
from com.sun.star.table import CellAddress


def connected(pipe):
    """LibreOffice's desktop, once it listens."""
    context = uno.getComponentContext()
    resolver = context.ServiceManager.createInstance("com.sun.star.bridge.UnoUrlResolver")
    end_s = time.monotonic() + 60
    while True:
        try:
            office = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
            return office.ServiceManager.createInstanceWithContext("com.sun.star.frame.Desktop", office)
        except NoConnectException:
            if time.monotonic() > end_s:
                raise
            time.sleep(0.2)


def opened(desktop, path, language):
    """The document: tab, ", UTF-8, from the first line on, quoted cells as texts, special numbers found."""
    options = {"Hidden": True, "FilterName": "Text - txt - csv (StarCalc)",
               "FilterOptions": f"9,34,76,1,,{language},true,true"}
    return desktop.loadComponentFromURL(f"file://{os.path.abspath(path)}", "_blank", 0, tuple(
        PropertyValue(name, 0, value, 0) for name, value in options.items()))


def pivot(document, rows, columns, data):
    """The cells of the pivot table."""
    sheets = document.getSheets()
    source = sheets.getByIndex(0)
    cursor = source.createCursor()
    cursor.gotoEndOfUsedArea(True)
    sheets.insertNewByName("pivot", 1)
    tables = sheets.getByName("pivot").getDataPilotTables()
    made = tables.createDataPilotDescriptor()
    made.setSourceRange(cursor.getRangeAddress())
    for name, orientation in ((rows, ROW), (columns, COLUMN), (data, DATA)):
        made.getDataPilotFields().getByName(name).Orientation = orientation
    made.getDataPilotFields().getByName(data).Function = SUM
    tables.insertNewByName("pivot", CellAddress(1, 0, 0), made)
    place = tables.getByName("pivot").getOutputRange()
    return sheets.getByName("pivot").getCellRangeByPosition(
        place.StartColumn, place.StartRow, place.EndColumn, place.EndRow).getDataArray()


def main(path, language, *names):
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.basename(folder)
        office = subprocess.Popen(["soffice", "--headless", f"-env:UserInstallation=file://{folder}",
                                   f"--accept=pipe,name={pipe};urp;"], stderr=subprocess.DEVNULL)
        try:
            desktop = connected(pipe)
            document = opened(desktop, path, language)
            for row in pivot(document, *names):
                print("\t".join(map(str, row)))
            document.close(False)
            desktop.terminate()
        finally:
            office.wait(60)


main(*sys.argv[1:])
