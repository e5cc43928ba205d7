"""A small receiver of HL7 v2 over MLLP, which reads messages with python-hl7: `mllp.py PORT FOLDER INCOMING [forgetful]`.

The PDF of a message (OBX-5) is FOLDER/NAME.pdf, complete when it has its name, which is that of the message (MSH-10): the same message is
acknowledged again, and kept once. `forgetful` keeps it again. It prints its port."""

import asyncio
import base64
import os
import pathlib
import sys
import uuid

from hl7.mllp import start_hl7_server

PORT, FOLDER, INCOMING, *HABITS = sys.argv[1:]
FOLDER, INCOMING = pathlib.Path(FOLDER), pathlib.Path(INCOMING)


def keep(message):
    """From here on something is on its way, which is where who watches the folder kills."""
    part = INCOMING / f"{uuid.uuid4()}.part"
    part.touch()
    name = str(message.segment("MSH")(10)) + (f"-{uuid.uuid4()}" if "forgetful" in HABITS else "")
    part.write_bytes(base64.b64decode(str(message["OBX.F5.R1.C5"]), validate=True))
    try:
        os.link(part, FOLDER / f"{name}.pdf")
    except FileExistsError:
        pass
    part.unlink()


async def serve(reader, writer):
    try:
        while not reader.at_eof():
            message = await reader.readmessage()
            keep(message)
            writer.writemessage(message.create_ack())
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    async with await start_hl7_server(serve, "127.0.0.1", int(PORT), limit=1 << 26, encoding="utf-8") as server:
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()


asyncio.run(main())
