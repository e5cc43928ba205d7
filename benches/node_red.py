"""What an integrator would click together in Node-RED: read a page of the list, then each document and its PDF, write the file, report,
and begin again until the list is empty. It has what a flow has before somebody adds more: no fsync, no record, no retry. SERVER's letters
go to FOLDER; the packages are in NODE."""

import json
import pathlib
import re
import subprocess
import time
import types

SETTINGS = "module.exports = {uiHost: '127.0.0.1', uiPort: 0, flowFile: 'flows.json', telemetry: {enabled: false}}\n"


def flow(base, folder):
    request = {"type": "http request", "method": "use", "paytoqs": "ignore"}

    def call(method, url, returned, before=""):
        # What is left of the answer before would be sent as headers of the next request.
        set_up = f"{before} msg.headers = {{}}; msg.method = '{method}'; msg.url = {url}; return msg;"
        return [{"type": "function", "outputs": 1, "func": set_up}, {**request, "ret": returned}]

    report = "msg.payload = {success: true, error: null};"
    steps = [
        {"type": "inject", "once": True, "onceDelay": 0.1, "props": []},
        *call("GET", f"'{base}/documents?synchronized=false&itemsPerPage=100'", "obj", "msg = {};"),
        {"type": "function", "outputs": 1, "func": "return msg.payload.length ? msg : null;"},
        {"type": "split", "arraySplt": 1, "arraySpltType": "len"},
        *call("GET", f"'{base}/documents/' + msg.uuid", "obj", "msg.uuid = msg.payload.uuid;"),
        *call("GET", "msg.payload.pdf.url", "bin"),
        {"type": "function", "outputs": 1, "func": f"msg.filename = '{folder}/' + msg.uuid + '.pdf'; return msg;"},
        {"type": "file", "filename": "filename", "filenameType": "msg", "overwriteFile": "true", "encoding": "none"},
        *call("POST", f"'{base}/documents/' + msg.uuid + '/status'", "txt", report),
        {"type": "join", "mode": "auto"},
    ]
    # Each step is followed by the next one, and the last one by the first request.
    after = [str(number) for number in range(1, len(steps))] + ["1"]
    nodes = [{**step, "id": str(number), "z": "tab", "x": 0, "y": 0, "wires": [[after[number]]]} for number, step in enumerate(steps)]
    return [{"id": "tab", "type": "tab"}, *nodes]


def run(node, server, folder, documents, usage):
    """Seconds of wall and processor from the first download to the last report, and bytes resident at the peak."""
    (folder / "settings.js").write_text(SETTINGS)
    (folder / "flows.json").write_text(json.dumps(flow(server.url, folder / "inbox")))
    program = pathlib.Path(node) / "node_modules" / "node-red" / "red.js"
    with open(folder / "output", "ab") as log:
        command = ["node", program, "--userDir", folder, "--settings", folder / "settings.js"]
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        began, limit = None, time.monotonic() + 300
        while (state := server.state())["synchronized"] < documents:
            if began is None and state["downloads"]:
                began, before = time.monotonic(), usage(process.pid)[1]
            if process.poll() is not None or time.monotonic() > limit:
                raise SystemExit(f"Node-RED stopped at {state}: {(folder / 'output').read_text()[-1000:]}")
            time.sleep(0.02)
        wall, processor = time.monotonic() - began, usage(process.pid)[1] - before
        peak = re.search(r"VmHWM:\s+(\d+)", pathlib.Path(f"/proc/{process.pid}/status").read_text())[1]
        return types.SimpleNamespace(wall=wall, processor=processor, peak=int(peak) * 1024)
    finally:
        process.terminate()
        process.wait()
