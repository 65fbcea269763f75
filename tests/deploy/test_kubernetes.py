"""The Kubernetes manifest: valid by the schemas of Kubernetes, and true of the service."""

from typing import Any

import jsonschema_rs
import pytest
import yaml

from api.config.settings import Settings, describe
from api.observability.metrics import exposition
from tests.deploy.kubernetes_schemas import schema
from tests.support.paths import ROOT

OBJECTS: list[dict[str, Any]] = list(
    yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text(encoding="utf-8"))
)
BY_KIND = {each["kind"]: each for each in OBJECTS}
POD = BY_KIND["Deployment"]["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
ENVIRONMENT = {each["name"]: each["value"] for each in CONTAINER["env"]}
SETTINGS = Settings.from_environment(ENVIRONMENT)


@pytest.mark.parametrize("kind", BY_KIND)
def test_every_object_is_valid(kind: str) -> None:
    jsonschema_rs.validate(schema(kind), BY_KIND[kind])


def test_a_member_that_does_not_exist_would_be_noticed() -> None:
    pod = {**POD, "containers": [{**CONTAINER, "livenesProbe": {}}]}
    deployment = BY_KIND["Deployment"]
    template = {**deployment["spec"]["template"], "spec": pod}
    wrong = {**deployment, "spec": {**deployment["spec"], "template": template}}
    with pytest.raises(jsonschema_rs.ValidationError, match="livenesProbe"):
        jsonschema_rs.validate(schema("Deployment"), wrong)


def test_all_objects_are_about_the_same_pods() -> None:
    labels = BY_KIND["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert BY_KIND["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert BY_KIND["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert BY_KIND["Service"]["spec"]["selector"] == labels
    target = BY_KIND["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]
    assert (target["kind"], target["name"]) == ("Deployment", "ludotheque")


def test_all_variables_are_settings() -> None:
    assert ENVIRONMENT.keys() <= {row.variable for row in describe()}


def test_the_probes_ask_what_there_is_for_as_long_as_it_may_take() -> None:
    ports = {each["name"]: each["containerPort"] for each in CONTAINER["ports"]}
    assert ports == {"http": SETTINGS.port}
    for name in ("startupProbe", "livenessProbe", "readinessProbe"):
        probe = CONTAINER[name]
        assert probe["httpGet"]["port"] in ports
        # A store that is away makes no pod restart.
        is_readiness = name == "readinessProbe"
        assert probe["httpGet"]["path"] == ("/readyz" if is_readiness else "/livez")
    assert CONTAINER["readinessProbe"]["timeoutSeconds"] > 2 * SETTINGS.redis_timeout_seconds


def test_a_pod_that_stops_is_taken_out_before_it_closes_and_has_the_time_to_stop() -> None:
    readiness = CONTAINER["readinessProbe"]
    noticed = readiness["periodSeconds"] * readiness["failureThreshold"]
    assert noticed < SETTINGS.stop_delay_seconds
    slowest = SETTINGS.stop_delay_seconds + SETTINGS.grace_seconds + 2
    assert slowest < POD["terminationGracePeriodSeconds"]


def test_it_scales_by_a_metric_that_exists_before_the_limit_is_reached() -> None:
    (metric,) = (
        each["pods"]
        for each in BY_KIND["HorizontalPodAutoscaler"]["spec"]["metrics"]
        if each["type"] == "Pods"
    )
    assert f"# HELP {metric['metric']['name']} " in exposition({}, False).decode()
    most = SETTINGS.waiters * SETTINGS.web_concurrency
    assert int(metric["target"]["averageValue"]) <= most / 2


def test_one_instance_may_go_at_a_time() -> None:
    assert BY_KIND["PodDisruptionBudget"]["spec"]["maxUnavailable"] == 1
    assert BY_KIND["HorizontalPodAutoscaler"]["spec"]["minReplicas"] >= 2


def test_the_container_has_no_rights_and_writes_only_where_it_has_to() -> None:
    security = CONTAINER["securityContext"]
    assert security["readOnlyRootFilesystem"]
    assert not security["allowPrivilegeEscalation"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert POD["securityContext"]["runAsNonRoot"]
    assert {each["mountPath"] for each in CONTAINER["volumeMounts"]} == {"/dev/shm", "/tmp"}
