"""The script that a practice's IT person would write, with the same promises: list, read, download, fsync, rename, record,
report. BASE_URL KEY FOLDER CONCURRENCY. aiohttp; SQLite with a write-ahead log and synchronous=FULL, one commit when a document
is filed and one when it is reported."""

import asyncio
import hashlib
import os
import pathlib
import sqlite3
import sys

import aiohttp

base, key, folder, wide = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
database = sqlite3.connect(folder.parent / "script.db", isolation_level=None)
database.execute("PRAGMA journal_mode = WAL")
database.execute("PRAGMA synchronous = FULL")
database.execute("CREATE TABLE IF NOT EXISTS document (uuid TEXT PRIMARY KEY, state TEXT, sha256 TEXT)")


def file(uuid, pdf):
    path = folder / f"{uuid}.pdf"
    part = path.with_suffix(".part")
    with open(part, "wb") as output:
        output.write(pdf)
        output.flush()
        os.fsync(output.fileno())
    os.rename(part, path)
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


async def listed(session):
    found, page = [], 1
    while True:
        query = {"synchronized": "false", "itemsPerPage": 100, "page": page, "order[createdAt]": "asc"}
        async with session.get("/documents", params=query) as answer:
            answer.raise_for_status()
            items = await answer.json()
        found += [item["uuid"] for item in items]
        if len(items) < 100:
            return found
        page += 1


async def synchronize(session, uuid):
    async with session.get(f"/documents/{uuid}") as answer:
        answer.raise_for_status()
        document = await answer.json()
    async with session.get(document["pdf"]["url"]) as answer:
        answer.raise_for_status()
        pdf = await answer.read()
    if not pdf.startswith(b"%PDF-"):
        raise ValueError(f"{uuid} is no PDF")
    await asyncio.get_running_loop().run_in_executor(None, file, uuid, pdf)
    digest = hashlib.sha256(pdf).hexdigest()
    database.execute("INSERT OR REPLACE INTO document VALUES (?, 'filed', ?)", (uuid, digest))
    async with session.post(f"/documents/{uuid}/status", json={"success": True, "error": None}) as answer:
        answer.raise_for_status()
    database.execute("UPDATE document SET state = 'reported' WHERE uuid = ?", (uuid,))


async def main():
    headers = {"Authorization": f"Bearer {key}"}
    async with aiohttp.ClientSession(base, headers=headers, connector=aiohttp.TCPConnector(limit=wide)) as session:
        waiting = iter(await listed(session))

        async def work():
            for uuid in waiting:
                await synchronize(session, uuid)

        await asyncio.gather(*(work() for _ in range(wide)))


asyncio.run(main())
