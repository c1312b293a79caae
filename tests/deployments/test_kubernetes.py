"""The manifests for Kubernetes: closed pods, secrets by reference, strangers' part least."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

SERVER = Path(__file__).parents[2] / "deployments/server"
MANIFESTS = SERVER / "kubernetes"
COMPONENT = "app.kubernetes.io/component"
VALIDATOR = "kubernetes-validate==1.37.0"
# The oldest that is still maintained anywhere, and the newest that the validator has long known.
RELEASES = ("1.28", "1.33")


def read_manifests() -> list[dict[str, Any]]:
    documents = [
        document
        for path in sorted(MANIFESTS.glob("*.yaml"))
        for document in yaml.load_all(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    ]
    return [document for document in documents if document["kind"] != "Kustomization"]


def select(kinds: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one for one in read_manifests() if one["kind"] in kinds}


WORKLOADS = select(("Deployment", "StatefulSet", "Job"))


def find_pod(workload: dict[str, Any]) -> dict[str, Any]:
    return dict(workload["spec"]["template"]["spec"])


@pytest.mark.parametrize("name", sorted(WORKLOADS))
def test_a_pod_is_chosen_by_its_labels_and_knows_secrets_by_reference_alone(name: str) -> None:
    workload = WORKLOADS[name]
    labels = workload["spec"]["template"]["metadata"]["labels"]
    assert workload["metadata"]["labels"] == labels
    if workload["kind"] != "Job":
        assert workload["spec"]["selector"]["matchLabels"] == labels
    pod = find_pod(workload)
    (container,) = pod["containers"]
    # Places of the pod's own; everything else is a secret's or the settings'.
    places = {
        "exam": ["PROCTOR_SECRETS", "PROCTOR_EXAM_PICTURES"],
        "worker": ["PROCTOR_BACKUPS"],
        "metrics": ["PROCTOR_BACKUPS"],
    }
    assert [one["name"] for one in container.get("env", ())] == places.get(name, [])
    secrets = [one["secretRef"]["name"] for one in container["envFrom"] if "secretRef" in one]
    assert secrets == [{"exam": "proctor-exam", "prefect": "proctor-prefect"}.get(name, "proctor-owner")]
    own = [one["metadata"]["name"] for one in workload["spec"].get("volumeClaimTemplates", ())]
    mounted = {mount["name"] for mount in container["volumeMounts"]}
    assert mounted == {one["name"] for one in pod["volumes"]} | {*own}
    assert {"requests", "limits"} == container["resources"].keys()
    if "ports" in container:
        assert {"readinessProbe", "livenessProbe"} <= container.keys()


def test_the_exam_api_has_one_key_and_of_the_installation_what_candidates_see_alone() -> None:
    pod = find_pod(WORKLOADS["exam"])
    shared = [mount for mount in pod["containers"][0]["volumeMounts"] if mount["name"] == "shared"]
    # Each lies where its variable says, and beside nothing that the API writes.
    keys, pictures = (told["value"] for told in pod["containers"][0]["env"])
    assert [(one["subPath"], one["mountPath"], one["readOnly"]) for one in shared] == [
        ("secrets/exam-keys.json", f"{keys}/exam-keys.json", True),
        ("exam-pictures", pictures, True),
    ]
    # From a claim that is only read nobody makes the folder that is mounted.
    assert (
        f"install -d -m 0755 {pictures}\n"
        in find_pod(WORKLOADS["proctor-prepare"])["containers"][0]["args"][0]
    )
    assert {one["name"] for one in pod["volumes"] if "persistentVolumeClaim" in one} == {"shared"}
    (out,) = [one for one in select(("NetworkPolicy",)).values() if one["spec"]["policyTypes"] == ["Egress"]]
    assert out["spec"]["podSelector"]["matchLabels"] == {COMPONENT: "exam"}
    assert {port["port"] for rule in out["spec"]["egress"] for port in rule["ports"]} == {53, 5432}


def test_every_pod_is_closed_to_whom_no_rule_names() -> None:
    policies = select(("NetworkPolicy",))
    closed = policies["proctor-closed"]["spec"]
    assert closed["podSelector"]["matchLabels"].items() <= WORKLOADS["worker"]["metadata"]["labels"].items()
    assert (closed["policyTypes"], closed.get("ingress")) == (["Ingress"], None)
    for name, service in select(("Service",)).items():
        assert service["spec"]["selector"] == WORKLOADS[name]["metadata"]["labels"]


def test_every_volume_is_claimed_and_every_start_is_a_command_of_ours() -> None:
    claims = select(("PersistentVolumeClaim",)).keys()
    listed = (SERVER.parents[1] / "docs/commands.md").read_text("utf-8")
    for workload in WORKLOADS.values():
        pod = find_pod(workload)
        used = {
            one["persistentVolumeClaim"]["claimName"]
            for one in pod["volumes"]
            if "persistentVolumeClaim" in one
        }
        assert used <= claims
        (container,) = pod["containers"]
        if "command" not in container:
            words = [word for word in container["args"] if re.fullmatch("[a-z]+", word)]
            assert f"`proctor {' '.join(words)}`" in listed


def test_a_job_of_the_pool_has_the_volumes_and_the_secret_that_a_worker_of_the_base_has() -> None:
    text = (SERVER.parent / "pools/kubernetes.json").read_text("utf-8")
    variables = json.loads(text)["variables"]["properties"]
    text = re.sub(r"{{ (\w+) }}", lambda found: str(variables[found[1]].get("default", "")), text)
    pod = find_pod(json.loads(text)["job_configuration"]["job_manifest"])
    assert list_mounts(pod) == list_mounts(find_pod(WORKLOADS["worker"]))
    assert pod["containers"][0]["envFrom"] == find_pod(WORKLOADS["worker"])["containers"][0]["envFrom"]
    told = {one["name"]: one["value"] for one in find_pod(WORKLOADS["worker"])["containers"][0]["env"]}
    assert told.items() <= variables["env"]["default"].items()
    # The base makes no account: jobs are of the one that each namespace has.
    assert pod["serviceAccountName"] == "default"


def list_mounts(pod: dict[str, Any]) -> dict[str, str]:
    """Where each claim is mounted."""
    claims = {one["name"]: one["persistentVolumeClaim"]["claimName"] for one in pod["volumes"]}
    return {mount["mountPath"]: claims[mount["name"]] for mount in pod["containers"][0]["volumeMounts"]}


@pytest.mark.long
def test_the_manifests_are_built_and_hold_to_the_schemas_of_kubernetes(tmp_path: Path) -> None:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip(
            "kubectl is not installed (1.21 or later; Debian 13: kubernetes-client): nothing was built."
        )
    built = subprocess.run(
        [kubectl, "kustomize", str(MANIFESTS)], capture_output=True, text=True, check=True
    ).stdout
    (tmp_path / "built.yaml").write_text(built, "utf-8")
    installed = tmp_path / "validator"
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--target", str(installed), VALIDATOR],
        check=True,
    )
    script = (
        "import sys, yaml, kubernetes_validate as k\n"
        "for one in yaml.safe_load_all(open(sys.argv[1])):\n"
        "    for release in sys.argv[2:]: k.validate(one, release, strict=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "built.yaml"), *RELEASES],
        env={"PYTHONPATH": str(installed)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    workloads = [
        one
        for one in yaml.safe_load_all(built)
        if one["metadata"]["name"] in WORKLOADS and "template" in one["spec"]
    ]
    assert {one["metadata"]["name"] for one in workloads} == WORKLOADS.keys()
    for workload in workloads:
        pod = find_pod(workload)
        assert pod["automountServiceAccountToken"] is False
        assert pod["securityContext"]["runAsNonRoot"] is True
        held = pod["containers"][0]["securityContext"]
        mounted = {mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
        assert {"/tmp", "/home/proctor"} <= mounted
        assert (held["readOnlyRootFilesystem"], held["capabilities"]) == (True, {"drop": ["ALL"]})
