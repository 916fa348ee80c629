# SPDX-License-Identifier: Apache-2.0
"""What may differ between the embedded cluster and an API server, each with its reason.

A row holds for paths (matched whole) and for what both said there, as Python prints it. What no row names is a defect.
"""
import collections
import re

from compare import ABSENT

Row = collections.namedtuple("Row", "name path ours theirs reason since", defaults=["1.0"])  # `since`: older servers have it not
NONE = re.escape(ABSENT)
ANY = ".*"
POD = r"((items\[\]|object)\.)?spec\.(template\.spec\.)?"
META = r"((items\[\]|object)\.)?"


def default(name, path, theirs, reason):
    """A field that the server fills in and we do not."""
    return Row(name, path, NONE, theirs, reason)


ROWS = [
    default("managedFields", META + r"metadata\.managedFields", ANY, "made for server-side apply, which is refused"),
    default("defaults of the MPIJob", META + r"spec\.(launcherCreationPolicy|mpiImplementation|runLauncherAsWorker|"
            r"sshAuthMountPath|slotsPerWorker|runPolicy(\.suspend)?)", ANY,
            "the CRD's; our code reads a job through its own table of defaults, which has the same"),
    default("defaults of a pod", POD + r"(dnsPolicy|enableServiceLinks|preemptionPolicy|priority|schedulerName|"
            r"securityContext|terminationGracePeriodSeconds|tolerations|restartPolicy)", ANY,
            "the kubelet in this process has the same where it needs them; there is no scheduler"),
    default("defaults of a container", POD + r"(initC|c)ontainers\[\]\.(imagePullPolicy|resources|terminationMessagePath|"
            r"terminationMessagePolicy)", ANY, "no images are pulled, nothing is limited, no termination message is read"),
    default("mode of volumes", POD + r"volumes\[\]\.(configMap|secret)\.defaultMode", "420", "the kubelet takes 0644 itself"),
    default("QoS class", META + r"status\.qosClass", "BestEffort|Burstable|Guaranteed", "nothing is evicted by it"),
    default("lastProbeTime of pods", META + r"status\.conditions\[\]\.lastProbeTime", "None",
            "a null that Go writes; nobody of ours reads it"),
    default("defaults of a Service", META + r"spec\.(clusterIPs|internalTrafficPolicy|ipFamilies|ipFamilyPolicy|"
            r"sessionAffinity|type)", ANY, "the names of headless Services are told by the node; there are no others"),
    default("eventTime", META + r"eventTime", "None", "a null that Go writes; our reader takes absent and null as one"),
    default("defaults of a Job", META + r"spec\.manualSelector", "False", "own selectors are refused"),
    default("podReplacementPolicy", META + r"spec\.podReplacementPolicy", "TerminatingOrFailed",
            "the Job controller takes absent as that"),
    Row("words", r"message|details\.causes\[\]\.message", ANY, ANY, "our own sentences, for people; code looks at reasons"),
    Row("kinds inside lists", r"items\[\]\.(kind|apiVersion)", ANY, NONE, "each item says what it is, as in lists of custom "
        "resources"),
    Row("the server's own objects", r"(items|events)\.(default/kubernetes|kube-system/.*)", NONE + r"|\[\]", ANY,
        "a server makes objects of its own"),
    default("bookmark's empty parts", r"bookmark\.(spec|status)", ANY, "Go writes its empty structs; a bookmark is read for its version"),
    Row("bookmark's creationTimestamp", r"bookmark\.metadata\.creationTimestamp", "None", NONE, "the same: older servers write the null"),
    Row("PodScheduled", r"(object\.)?status\.conditions", NONE, r"\[\{'type': 'PodScheduled'.*", "the server writes it with a binding; "
        "our kubelet with its first status"),
    Row("times of conditions", r"status\.conditions\[\]\.lastTransitionTime", NONE, "None", "a null that Go writes"),
    Row("the cause of a wrong uid", r"details\.causes", r".*metadata\.uid.*", r"(.*metadata\.uid.*){2}", "a server tells it twice"),
    Row("a suspended Job", r"status\.(conditions|ready|terminating)", r".*JobSuspended.*|0", NONE,
        "probes only: our Job controller is at work, the server has none"),
    default("empty status", META + r"status", r"{}|{'loadBalancer': {}}", "Go writes it; our readers take absent and empty as one"),
]


# Requests that are answered otherwise as a whole: what is asked, both statuses, and why.
EXCEPTIONS = [
    Row("unknown paths", r"GET /apis/nothing/v1/things .*", "404", "404", "a server says so in plain text"),
    Row("resourceVersion of what is new", r'POST \S+/configmaps .*"resourceVersion": "5".*', "400", "500",
        "a server takes that for a fault of its own"),
    Row("digits before a Service's name", r'POST \S+/services .*"1svc".*', "422", "201",
        "new in late servers; a job with such a name would not run on the others", "1.35"),
]


def exception(what, ours, theirs):
    """The exception for this pair of answers, or None."""
    for row in EXCEPTIONS:
        if re.fullmatch(row.path, what, re.S) and (row.ours, row.theirs) == (str(ours), str(theirs)):
            return row
    return None


def find(path, ours, theirs):
    """The row that allows this difference, or None."""
    for row in ROWS:
        if re.fullmatch(row.path, path) and re.fullmatch(row.ours, str(ours), re.S) and re.fullmatch(row.theirs, str(theirs), re.S):
            return row
    return None
