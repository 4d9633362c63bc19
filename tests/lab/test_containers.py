# SPDX-License-Identifier: Apache-2.0
"""The back end `containers`: a run by podman, and the manifests.

The image of the tests has the programs of the build and the libraries that they load, for no registry can be relied on.
"""

import io
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import lab
import pytest
import yaml
from labkit import backend, containers

LIMITS = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"]
PROGRAMS = {"suede": "app/suede/suede", "suede-switch": "app/suede-switch/suede-switch", "suede-perf": "app/perf/suede-perf"}
SCENARIO = """\
version: 1
name: boxes
backend: containers
topology: {xpus: 2, daemons: 2}
load:
  - {workload: all-to-all, bytes: 20000, iterations: 3, check: on}
expect: {switch_drops: {max: 0}}
"""


def _libraries(path):
    text = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    return {word for line in text.splitlines() for word in line.split() if word.startswith("/")}


def _files():
    """{path in the image: path here}."""
    files = {f"/usr/bin/{name}": str(lab.BUILD / path) for name, path in PROGRAMS.items()}
    files["/bin/sh"] = "/bin/dash"
    files["/bin/mkdir"] = "/bin/mkdir"
    drivers = next(pathlib.Path("/usr/lib/x86_64-linux-gnu/dpdk").glob("pmds-*"))
    for name in ("librte_net_memif.so", "librte_mempool_ring.so", "librte_bus_vdev.so", "librte_net_af_packet.so"):
        # EAL loads each file of the directory: one of its names, no copies of it.
        for path in drivers.glob(name + ".*.*"):
            files[str(path)] = str(path)
    for path in list(files.values()):
        for library in _libraries(path):
            # The build's own are found by where they lie; in the image they lie where installed ones do.
            own = library.startswith(str(lab.BUILD))
            files[f"/usr/lib/x86_64-linux-gnu/{os.path.basename(library)}" if own else library] = library
    return files


def _podman(*words, **options):
    return subprocess.run(["podman", *words], capture_output=True, timeout=300, check=False, **options)


def missing():
    if os.geteuid() != 0 or not shutil.which("podman"):
        return "podman, and root, are needed"
    for runtime in ("crun", "runc"):
        done = _podman("--runtime", runtime, "run", "--rm", *LIMITS, "--network", "host", "--rootfs", "/:O", "/bin/true")
        if done.returncode == 0:
            os.environ["SUEDE_TEST_RUNTIME"] = runtime
            return None
    return "no container can be started here: " + done.stderr.decode(errors="replace").strip()[-200:]


@pytest.fixture(name="settings", scope="module")
def fixture_settings(tmp_path_factory):
    """The file of --inventory with an image of the build's programs."""
    reason = missing()
    if reason:
        pytest.skip(reason)
    image = f"localhost/suede-test-{os.getpid()}"
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        # Names of one library stay names of one file: loaded twice it would be two.
        added = set()
        for inside, path in _files().items():
            real = os.path.realpath(path)
            at = inside if inside.startswith(("/usr/bin/", "/bin/")) or real.startswith(str(lab.BUILD)) else real
            if at not in added:
                archive.add(real, at.lstrip("/"))
                added.add(at)
            if inside not in added:
                entry = tarfile.TarInfo(inside.lstrip("/"))
                entry.type, entry.linkname = tarfile.SYMTYPE, real
                archive.addfile(entry)
                added.add(inside)
        for directory in ("tmp", "run", "etc", "dev", "proc", "sys"):
            entry = tarfile.TarInfo(directory)
            entry.type, entry.mode = tarfile.DIRTYPE, 0o755
            archive.addfile(entry)
    done = _podman("import", "--change", "ENV PATH=/usr/bin:/bin", "-", image, input=data.getvalue())
    assert done.returncode == 0, done.stderr
    path = tmp_path_factory.mktemp("containers") / "settings.yaml"
    path.write_text(yaml.safe_dump({"image": image, "podman_options": ["--runtime", os.environ["SUEDE_TEST_RUNTIME"]],
                                    "run_options": LIMITS}), encoding="utf-8")
    yield path
    _podman("rmi", "--force", image)


def running():
    return _podman("ps", "--all", "--filter", f"label={containers.LABEL}", "--format", "{{.Names}}", text=True).stdout


def test_a_workload_in_containers(settings, tmp_path):
    out = tmp_path / "out"
    lab.run(lab.write(tmp_path, SCENARIO), "--inventory", settings, "--out", out)
    report = lab.report(out)
    assert report["verdict"]["pass"] and report["backend"] == "containers"
    assert set(report["final"]) == {"d0", "d1", "sw0"}
    assert not running()


def test_a_container_that_fails_is_told_and_nothing_is_left(settings, tmp_path):
    text, _ = lab.run(lab.write(tmp_path, SCENARIO + "endpoint: {management: {http_address: '192.0.2.1:9'}}\n"), "--inventory", settings,
                      "--out", tmp_path / "out", code=1)
    assert re.search("d[01] ended at its start with 5", text) and "192.0.2.1:9" in text
    assert not running()


def test_an_image_that_is_missing(tmp_path):
    if not shutil.which("podman"):
        pytest.skip("no podman")
    path = tmp_path / "settings.yaml"
    path.write_text("image: localhost/no-such-image\n", encoding="utf-8")
    _, error = lab.run(lab.write(tmp_path, SCENARIO), "--inventory", path, "--out", tmp_path / "out", code=5)
    assert "podman has no image localhost/no-such-image" in error and "podman build" in error


def test_the_settings_of_conf():
    assert set(containers.read_settings(lab.ROOT / "conf/lab/hosts/containers.yaml")) == {key for key, _, _ in containers.KEYS}


@pytest.mark.parametrize("text, message", [
    ("images: x\n", "images is no key; there are image,"), ("run_options: x\n", "run_options: 'x' is no list"),
    ("- x\n", "it is no map"), ("a: [\n", "settings.yaml")])
def test_wrong_settings(tmp_path, text, message):
    path = tmp_path / "settings.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(backend.PreflightError, match=message):
        containers.read_settings(path)


def generated(tmp_path, **settings):
    path = tmp_path / "settings.yaml"
    path.write_text(yaml.safe_dump(settings), encoding="utf-8")
    lab.run(lab.write(tmp_path, SCENARIO), "--inventory", path, "--generate", tmp_path / "made")
    return tmp_path / "made"


def test_the_daemonset_has_hugepages_devices_and_a_configuration_of_each_machine(tmp_path):
    made = generated(tmp_path, kubernetes_nodes={"d0": "worker-1"}, kubernetes_devices={"x0p0": "0000:3b:00.0"})
    config, daemons = yaml.safe_load_all((made / "daemonset.yaml").read_text(encoding="utf-8"))
    assert set(config["data"]) == {"worker-1.yaml", "d1.yaml"}
    first = yaml.safe_load(config["data"]["worker-1.yaml"])
    assert first["ports"][0]["device"] == "0000:3b:00.0" and first["eal"]["hugepages"] == "on"
    pod = daemons["spec"]["template"]["spec"]
    assert pod["containers"][0]["resources"]["limits"]["hugepages-2Mi"] == "1024Mi"
    assert {volume["name"] for volume in pod["volumes"]} == {"config", "hugepages", "vfio", "sys", "clients"}
    for name, text in config["data"].items():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([lab.BUILD / PROGRAMS["suede"], "--config", path, "--check_config"], capture_output=True, text=True,
                              timeout=60, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_kubectl_takes_the_manifests(tmp_path):
    """As far as it goes without a cluster: it reads them as the objects that they claim to be."""
    if not shutil.which("kubectl"):
        pytest.skip("no kubectl")
    made = generated(tmp_path)
    for name in ("daemonset.yaml", "pod.yaml"):
        done = subprocess.run(["kubectl", "label", "--local", "--dry-run=client", "-o", "yaml", "-f", made / name, "checked=yes"],
                              capture_output=True, text=True, timeout=60, check=False,
                              env={**os.environ, "KUBECONFIG": "/dev/null"})
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("checked:") == len(list(yaml.safe_load_all((made / name).read_text(encoding="utf-8"))))


def test_podman_makes_the_pod(settings, tmp_path):
    made = generated(tmp_path, **{key: value for key, value in yaml.safe_load(settings.read_text()).items() if key == "image"})
    pod = yaml.safe_load((made / "pod.yaml").read_text(encoding="utf-8"))
    name = pod["metadata"]["name"]
    options = yaml.safe_load(settings.read_text())["podman_options"]
    try:
        done = _podman(*options, "play", "kube", "--start=false", str(made / "pod.yaml"), text=True)
        if "infra" in done.stderr or "pause" in done.stderr:
            pytest.skip("podman has no image for the infra container here, and no registry is reachable")
        assert done.returncode == 0, done.stderr
        listed = _podman("ps", "--all", "--filter", f"pod={name}", "--format", "{{.Names}}", text=True).stdout.split()
        assert {f"{name}-{node}" for node in ("sw0", "d0", "d1")} <= set(listed)
    finally:
        _podman("pod", "rm", "--force", "--ignore", name)
