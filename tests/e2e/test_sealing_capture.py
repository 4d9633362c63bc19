# SPDX-License-Identifier: Apache-2.0
"""A capture of two daemons that seal, opened with their file of secrets (docs/sealing.md, "Decrypting a
capture")."""

import json
import subprocess

import e2e
from test_sealing import Keys, keys_of, sealed, secret_line


def decode(*arguments):
    done = subprocess.run([e2e.SUEDECTL, "frame", "decode", "--encap", "udp4", "--input", "pcap", *arguments],
                          check=False, capture_output=True, text=True, timeout=e2e.TRAFFIC_S)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_capture_is_opened(directory):
    keys = Keys(directory)
    path = keys.write("both", secret_line(1, keys.secret))
    left_config, right_config = (
        sealed(e2e.endpoint_config(directory, side, e2e.memif_device(directory, role)), path, rotate_pdus=200)
        for side, role in (("left", "server"), ("right", "client")))
    file = directory / "sealed.pcapng"
    with e2e.Daemon(directory, left_config) as left:
        # The HELLOs are in it: the peer is not there yet.
        e2e.managed(left, "capture", "start", "p0", "--file", file)
        with e2e.Daemon(directory, right_config) as right:
            for daemon in (left, right):
                daemon.wait_for_link()
            server = e2e.perf_server(directory, right, "0")
            with e2e.perf(directory, "client", left.socket, "--destinations", 1, "--count", 5000) as run:
                run.expect(0, e2e.TRAFFIC_S)
            server.terminate()
            epoch = keys_of(left)["tx_epoch"]
            e2e.managed(left, "capture", "stop", "p0")
    frames = decode("--keys", path, file)
    opened = [frame for frame in frames if "sealed" in frame and "error" not in frame]
    assert not [frame for frame in frames if frame.get("error", "not_sue") != "not_sue"]
    assert sum(len(frame["commands"]) for frame in opened if frame["xpuid"] == 0 and "commands" in frame) > 0
    for xpuid in (0, 1):
        assert any("control_pdu" in frame for frame in opened if frame["xpuid"] == xpuid)
    assert max(frame["sealed"].get("epoch", 0) for frame in opened) == epoch > 0

    # Without the keys, and with others, nothing opens; nothing of the commands is in the file.
    assert {frame.get("error") for frame in decode(file)} <= {"version", "not_sue"}
    other = keys.write("other", secret_line(1, "1f" * 31 + "2e"))
    errors = {frame.get("error") for frame in decode("--keys", other, file)}
    assert errors <= {"seal_tag", "seal_key", "not_sue"} and "seal_tag" in errors
    control = next(frame["commands"][0]["control"] for frame in opened if frame.get("commands"))
    assert len(control) < 16 or bytes.fromhex(control) not in file.read_bytes()

    # The plain capture reads as one of a link that does not seal.
    plain = directory / "plain.pcap"
    decode("--keys", path, "--output", "pcap", "-o", plain, file)
    again = decode(plain)
    assert not any("sealed" in frame for frame in again)
    assert [frame.get("commands") for frame in again] == [frame.get("commands") for frame in frames]
