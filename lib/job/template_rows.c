/* SPDX-License-Identifier: Apache-2.0 */
/*
 * THE table of what an API server of Kubernetes 1.36 asks of a pod beyond types: one row for each
 * field that has a form, bounds, or may not be missing, by the type that holds it. Words that the
 * schema lists are checked without a row. What takes several fields is a function; its row names
 * it. Features that are off in 1.36 have no rows: what a server drops, or what may be switched on,
 * is not refused here.
 */
#include "job/template_walk.h"

#define NEEDED              .flags = ROW_NEEDED
#define OPEN                .flags = ROW_OPEN
#define RANGE(from, to)     .flags = ROW_RANGE, .low = from, .high = to
#define NEEDED_IN(from, to) .flags = ROW_NEEDED | ROW_RANGE, .low = from, .high = to
#define AT_LEAST(from)      RANGE(from, INT64_MAX)
#define ONE_OF(from, names) .flags = ROW_ONE_OF, .low = from, .high = 1, .key = names
#define MODE                RANGE(0, 0777)
#define ID                  RANGE(0, INT32_MAX)
#define FORM(name)          .syntax = mpijob__job_syntax_##name
#define RULE(name)          .rule = mpijob__job_template_##name

#define VOLUME_SOURCES                                                                        \
	"awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI "   \
	"emptyDir ephemeral fc "                                                              \
	"flexVolume flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs "    \
	"persistentVolumeClaim "                                                              \
	"photonPersistentDisk portworxVolume projected quobyte rbd scaleIO secret storageos " \
	"vsphereVolume"

/* In the order of the types. */
static const struct mpijob__job_template_row rows[] = {
	{ SCHEMA_ObjectMeta, RULE(metadata) },

	{ SCHEMA_PodSpec, .key = "activeDeadlineSeconds", RANGE(1, INT32_MAX) },
	{ SCHEMA_PodSpec, .key = "serviceAccountName", FORM(subdomain) },
	{ SCHEMA_PodSpec, .key = "nodeName", FORM(subdomain) },
	{ SCHEMA_PodSpec, .key = "priorityClassName", FORM(subdomain) },
	{ SCHEMA_PodSpec, .key = "runtimeClassName", FORM(subdomain) },
	{ SCHEMA_PodSpec, .key = "hostnameOverride", FORM(host) },
	{ SCHEMA_PodSpec, .key = "restartPolicy", OPEN }, /* the role's policy takes its place */
	{ SCHEMA_PodSpec, .key = "dnsPolicy", OPEN },     /* not with hostNetwork */
	{ SCHEMA_PodSpec, RULE(pod) },
	{ SCHEMA_PodSpec, RULE(dns) },
	{ SCHEMA_PodSpec, RULE(host_names) },
	{ SCHEMA_PodSpec, RULE(volumes) },
	{ SCHEMA_PodSpec, RULE(containers) },
	{ SCHEMA_PodSpec, RULE(pod_resources) },
	{ SCHEMA_PodSpec, RULE(windows) },

	{ SCHEMA_PreferredSchedulingTerm, .key = "weight", NEEDED_IN(1, 100) },
	{ SCHEMA_NodeSelectorTerm, RULE(node_selector) },
	{ SCHEMA_NodeSelectorRequirement, .key = "operator", OPEN },
	{ SCHEMA_NodeSelector, .key = "nodeSelectorTerms", NEEDED },
	{ SCHEMA_WeightedPodAffinityTerm, .key = "weight", NEEDED_IN(1, 100) },
	{ SCHEMA_PodAffinityTerm, .key = "topologyKey", NEEDED, FORM(key) },
	{ SCHEMA_PodAffinityTerm, .key = "namespaces", FORM(label) },
	{ SCHEMA_PodAffinityTerm, RULE(affinity) },
	{ SCHEMA_LabelSelector, RULE(selector) },

	{ SCHEMA_Container, .key = "name", NEEDED, FORM(label) },
	{ SCHEMA_Container, .key = "image", NEEDED, FORM(image) },
	{ SCHEMA_Container, RULE(container) },
	{ SCHEMA_Container, RULE(annotated) },
	{ SCHEMA_EnvVar, .key = "name", NEEDED, FORM(variable) },
	{ SCHEMA_EnvVar, RULE(variable) },
	{ SCHEMA_EnvVarSource,
	    ONE_OF(1, "fieldRef resourceFieldRef configMapKeyRef secretKeyRef fileKeyRef") },
	{ SCHEMA_ConfigMapKeySelector, .key = "name", NEEDED, FORM(subdomain) },
	{ SCHEMA_ConfigMapKeySelector, .key = "key", NEEDED, FORM(file) },
	{ SCHEMA_ObjectFieldSelector, .key = "fieldPath", NEEDED },
	{ SCHEMA_ObjectFieldSelector, RULE(field_ref) },
	{ SCHEMA_FileKeySelector, .key = "key", NEEDED, FORM(variable) },
	{ SCHEMA_FileKeySelector, .key = "path", NEEDED, FORM(steps) },
	{ SCHEMA_FileKeySelector, .key = "volumeName", NEEDED, FORM(label) },
	{ SCHEMA_ResourceFieldSelector, .key = "resource", NEEDED },
	{ SCHEMA_ResourceFieldSelector, RULE(resource_ref) },
	{ SCHEMA_SecretKeySelector, .key = "name", NEEDED, FORM(subdomain) },
	{ SCHEMA_SecretKeySelector, .key = "key", NEEDED, FORM(file) },
	{ SCHEMA_EnvFromSource, .key = "prefix", FORM(variable) },
	{ SCHEMA_EnvFromSource, ONE_OF(1, "configMapRef secretRef") },
	{ SCHEMA_ConfigMapEnvSource, .key = "name", NEEDED, FORM(prefix) },
	{ SCHEMA_SecretEnvSource, .key = "name", NEEDED, FORM(prefix) },
	{ SCHEMA_Lifecycle, .key = "stopSignal", OPEN }, /* dropped: off in 1.36 */
	{ SCHEMA_LifecycleHandler, ONE_OF(1, "exec httpGet tcpSocket sleep") },
	{ SCHEMA_ExecAction, .key = "command", NEEDED },
	{ SCHEMA_HTTPGetAction, RULE(port_of) },
	{ SCHEMA_HTTPHeader, .key = "name", NEEDED, FORM(header) },
	{ SCHEMA_SleepAction, RULE(sleep) },
	{ SCHEMA_TCPSocketAction, RULE(port_of) },
	{ SCHEMA_Probe, .key = "initialDelaySeconds", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "timeoutSeconds", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "periodSeconds", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "successThreshold", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "failureThreshold", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "terminationGracePeriodSeconds", AT_LEAST(1) },
	{ SCHEMA_Probe, ONE_OF(1, "exec httpGet tcpSocket grpc") },
	{ SCHEMA_Probe, RULE(probe) },
	{ SCHEMA_GRPCAction, .key = "port", NEEDED_IN(1, 65535) },
	{ SCHEMA_ContainerPort, .key = "containerPort", NEEDED_IN(1, 65535) },
	{ SCHEMA_ContainerPort, .key = "hostPort", RANGE(1, 65535) },
	{ SCHEMA_ContainerPort, .key = "name", FORM(port) },
	{ SCHEMA_ContainerResizePolicy, .key = "resourceName", NEEDED },
	{ SCHEMA_ContainerResizePolicy, .key = "restartPolicy", NEEDED },
	{ SCHEMA_ResourceRequirements, RULE(resources) },
	{ SCHEMA_ContainerRestartRule, .key = "exitCodes", NEEDED },
	{ SCHEMA_SecurityContext, .key = "runAsUser", ID },
	{ SCHEMA_SecurityContext, .key = "runAsGroup", ID },
	{ SCHEMA_SecurityContext, RULE(security) },
	{ SCHEMA_AppArmorProfile, .key = "type", NEEDED },
	{ SCHEMA_AppArmorProfile, RULE(apparmor) },
	{ SCHEMA_SeccompProfile, .key = "type", NEEDED },
	{ SCHEMA_SeccompProfile, RULE(seccomp) },
	{ SCHEMA_WindowsSecurityContextOptions, .key = "gmsaCredentialSpecName", FORM(subdomain) },
	{ SCHEMA_WindowsSecurityContextOptions, .key = "gmsaCredentialSpec", FORM(credential) },
	{ SCHEMA_WindowsSecurityContextOptions, .key = "runAsUserName", FORM(windows_user) },
	{ SCHEMA_VolumeDevice, .key = "name", NEEDED },
	{ SCHEMA_VolumeDevice, .key = "devicePath", NEEDED, FORM(steps) },
	{ SCHEMA_VolumeMount, .key = "name", NEEDED },
	{ SCHEMA_VolumeMount, .key = "mountPath", NEEDED },
	{ SCHEMA_VolumeMount, .key = "subPath", FORM(relative) },
	{ SCHEMA_VolumeMount, .key = "subPathExpr", FORM(relative) },
	{ SCHEMA_VolumeMount, RULE(mount) },

	{ SCHEMA_PodDNSConfig, .key = "nameservers", FORM(address) },
	{ SCHEMA_PodDNSConfig, .key = "searches", FORM(search) },
	{ SCHEMA_PodDNSConfigOption, .key = "name", NEEDED },
	{ SCHEMA_HostAlias, .key = "ip", NEEDED, FORM(address) },
	{ SCHEMA_HostAlias, .key = "hostnames", FORM(subdomain) },
	{ SCHEMA_PodOS, .key = "name", NEEDED },
	{ SCHEMA_PodReadinessGate, .key = "conditionType", NEEDED, FORM(key) },
	{ SCHEMA_PodResourceClaim, .key = "name", NEEDED, FORM(label) },
	{ SCHEMA_PodResourceClaim, .key = "resourceClaimName", FORM(subdomain) },
	{ SCHEMA_PodResourceClaim, .key = "resourceClaimTemplateName", FORM(subdomain) },
	{ SCHEMA_PodResourceClaim, ONE_OF(1, "resourceClaimName resourceClaimTemplateName") },
	{ SCHEMA_PodSchedulingGate, .key = "name", NEEDED, FORM(key) },
	{ SCHEMA_PodSecurityContext, .key = "fsGroup", ID },
	{ SCHEMA_PodSecurityContext, .key = "runAsUser", ID },
	{ SCHEMA_PodSecurityContext, .key = "runAsGroup", ID },
	{ SCHEMA_PodSecurityContext, .key = "supplementalGroups", ID },
	{ SCHEMA_PodSecurityContext, RULE(pod_security) },
	{ SCHEMA_Sysctl, .key = "name", NEEDED, FORM(sysctl) },
	{ SCHEMA_Toleration, .key = "key", FORM(key) },
	{ SCHEMA_Toleration, RULE(toleration) },
	{ SCHEMA_TopologySpreadConstraint, .key = "maxSkew", NEEDED_IN(1, INT64_MAX) },
	{ SCHEMA_TopologySpreadConstraint, .key = "topologyKey", NEEDED },
	{ SCHEMA_TopologySpreadConstraint, .key = "whenUnsatisfiable", NEEDED },
	{ SCHEMA_TopologySpreadConstraint, .key = "minDomains", AT_LEAST(1) },
	{ SCHEMA_TopologySpreadConstraint, RULE(spread) },

	{ SCHEMA_Volume, .key = "name", NEEDED, FORM(label) },
	{ SCHEMA_Volume, ONE_OF(0, VOLUME_SOURCES) },
	{ SCHEMA_Volume, RULE(volume) },
	{ SCHEMA_AWSElasticBlockStoreVolumeSource, .key = "volumeID", NEEDED },
	{ SCHEMA_AWSElasticBlockStoreVolumeSource, .key = "partition", RANGE(0, 255) },
	{ SCHEMA_AzureDiskVolumeSource, .key = "diskName", NEEDED },
	{ SCHEMA_AzureDiskVolumeSource, .key = "diskURI", NEEDED },
	{ SCHEMA_AzureDiskVolumeSource, RULE(azure_disk) },
	{ SCHEMA_AzureFileVolumeSource, .key = "secretName", NEEDED },
	{ SCHEMA_AzureFileVolumeSource, .key = "shareName", NEEDED },
	{ SCHEMA_CephFSVolumeSource, .key = "monitors", NEEDED },
	{ SCHEMA_CinderVolumeSource, .key = "volumeID", NEEDED },
	{ SCHEMA_ConfigMapVolumeSource, .key = "name", NEEDED },
	{ SCHEMA_ConfigMapVolumeSource, .key = "defaultMode", MODE },
	{ SCHEMA_KeyToPath, .key = "key", NEEDED },
	{ SCHEMA_KeyToPath, .key = "path", NEEDED, FORM(projected) },
	{ SCHEMA_KeyToPath, .key = "mode", MODE },
	{ SCHEMA_CSIVolumeSource, .key = "driver", NEEDED, FORM(driver) },
	{ SCHEMA_DownwardAPIVolumeSource, .key = "defaultMode", MODE },
	{ SCHEMA_DownwardAPIVolumeFile, .key = "path", NEEDED, FORM(projected) },
	{ SCHEMA_DownwardAPIVolumeFile, .key = "mode", MODE },
	{ SCHEMA_DownwardAPIVolumeFile, ONE_OF(1, "fieldRef resourceFieldRef") },
	{ SCHEMA_EmptyDirVolumeSource, RULE(empty_dir) },
	{ SCHEMA_EphemeralVolumeSource, .key = "volumeClaimTemplate", NEEDED },
	{ SCHEMA_PersistentVolumeClaimSpec, .key = "accessModes", NEEDED },
	{ SCHEMA_PersistentVolumeClaimSpec, .key = "storageClassName", OPEN },
	{ SCHEMA_PersistentVolumeClaimSpec, RULE(volume_claim) },
	{ SCHEMA_TypedLocalObjectReference, .key = "kind", NEEDED },
	{ SCHEMA_TypedLocalObjectReference, .key = "name", NEEDED },
	{ SCHEMA_TypedLocalObjectReference, RULE(data_source) },
	{ SCHEMA_TypedObjectReference, .key = "kind", NEEDED },
	{ SCHEMA_TypedObjectReference, .key = "name", NEEDED },
	{ SCHEMA_TypedObjectReference, RULE(data_source) },
	{ SCHEMA_FCVolumeSource, RULE(fc) },
	{ SCHEMA_FlexVolumeSource, .key = "driver", NEEDED },
	{ SCHEMA_FlexVolumeSource, RULE(flex) },
	{ SCHEMA_FlockerVolumeSource, .key = "datasetName", FORM(no_slash) },
	{ SCHEMA_FlockerVolumeSource, ONE_OF(1, "datasetName datasetUUID") },
	{ SCHEMA_GCEPersistentDiskVolumeSource, .key = "pdName", NEEDED },
	{ SCHEMA_GCEPersistentDiskVolumeSource, .key = "partition", RANGE(0, 255) },
	{ SCHEMA_GitRepoVolumeSource, .key = "repository", NEEDED },
	{ SCHEMA_GitRepoVolumeSource, .key = "directory", FORM(relative) },
	{ SCHEMA_GlusterfsVolumeSource, .key = "endpoints", NEEDED },
	{ SCHEMA_GlusterfsVolumeSource, .key = "path", NEEDED },
	{ SCHEMA_HostPathVolumeSource, .key = "path", NEEDED, FORM(steps) },
	{ SCHEMA_ImageVolumeSource, .key = "reference", NEEDED },
	{ SCHEMA_ISCSIVolumeSource, .key = "targetPortal", NEEDED },
	{ SCHEMA_ISCSIVolumeSource, .key = "iqn", NEEDED, FORM(iscsi) },
	{ SCHEMA_ISCSIVolumeSource, .key = "initiatorName", FORM(iscsi) },
	{ SCHEMA_ISCSIVolumeSource, .key = "lun", RANGE(0, 255) },
	{ SCHEMA_ISCSIVolumeSource, RULE(iscsi) },
	{ SCHEMA_NFSVolumeSource, .key = "server", NEEDED },
	{ SCHEMA_NFSVolumeSource, .key = "path", NEEDED, FORM(absolute) },
	{ SCHEMA_PersistentVolumeClaimVolumeSource, .key = "claimName", NEEDED },
	{ SCHEMA_PhotonPersistentDiskVolumeSource, .key = "pdID", NEEDED },
	{ SCHEMA_PortworxVolumeSource, .key = "volumeID", NEEDED },
	{ SCHEMA_ProjectedVolumeSource, .key = "defaultMode", MODE },
	{ SCHEMA_ProjectedVolumeSource, RULE(projected) },
	{ SCHEMA_VolumeProjection, ONE_OF(0, "configMap downwardAPI secret serviceAccountToken") },
	{ SCHEMA_ConfigMapProjection, .key = "name", NEEDED },
	{ SCHEMA_SecretProjection, .key = "name", NEEDED },
	{ SCHEMA_ServiceAccountTokenProjection, .key = "expirationSeconds",
	    RANGE(600, INT64_C(1) << 32) },
	{ SCHEMA_ServiceAccountTokenProjection, .key = "path", NEEDED, FORM(projected) },
	{ SCHEMA_QuobyteVolumeSource, .key = "registry", NEEDED, FORM(registry) },
	{ SCHEMA_QuobyteVolumeSource, .key = "volume", NEEDED },
	{ SCHEMA_QuobyteVolumeSource, .key = "tenant", FORM(tenant) },
	{ SCHEMA_RBDVolumeSource, .key = "monitors", NEEDED },
	{ SCHEMA_RBDVolumeSource, .key = "image", NEEDED },
	{ SCHEMA_ScaleIOVolumeSource, .key = "gateway", NEEDED },
	{ SCHEMA_ScaleIOVolumeSource, .key = "system", NEEDED },
	{ SCHEMA_ScaleIOVolumeSource, .key = "volumeName", NEEDED },
	{ SCHEMA_SecretVolumeSource, .key = "secretName", NEEDED },
	{ SCHEMA_SecretVolumeSource, .key = "defaultMode", MODE },
	{ SCHEMA_StorageOSVolumeSource, .key = "volumeName", NEEDED, FORM(label) },
	{ SCHEMA_StorageOSVolumeSource, .key = "volumeNamespace", FORM(label) },
	{ SCHEMA_VsphereVirtualDiskVolumeSource, .key = "volumePath", NEEDED },
};

const struct mpijob__job_template_row *mpijob__job_template_rows(int type, size_t *count)
{
	const struct mpijob__job_template_row *end = rows + sizeof(rows) / sizeof(rows[0]);
	const struct mpijob__job_template_row *row = rows;
	const struct mpijob__job_template_row *first;

	while (row < end && row->type != type)
		row++;
	first = row;
	while (row < end && row->type == type)
		row++;
	*count = (size_t)(row - first);
	return first;
}
