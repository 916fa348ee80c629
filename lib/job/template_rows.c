/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of checks that an API server of Kubernetes 1.36 makes of a pod beyond types: one row
 * for each field with a format or bounds, or that is required, sorted by type. The choices of the
 * schema need no row. A check of several fields is a function, and its row names it. Features that
 * are off by default in 1.36 have no rows: their fields are dropped, or may be enabled.
 */
#include "job/template_walk.h"

#define REQUIRED                 .flags = ROW_REQUIRED
#define ANY_WORD                 .flags = ROW_ANY_WORD
#define RANGE(from, to)          .flags = ROW_RANGE, .low = from, .high = to
#define REQUIRED_RANGE(from, to) .flags = ROW_REQUIRED | ROW_RANGE, .low = from, .high = to
#define AT_LEAST(from)           RANGE(from, INT64_MAX)
#define ONE_OF(from, names)      .flags = ROW_ONE_OF, .low = from, .high = 1, .key = names
#define MODE                     RANGE(0, 0777)
#define ID                       RANGE(0, INT32_MAX)
#define FORM(name)               .syntax = mpijob__job_syntax_##name
#define RULE(name)               .rule = mpijob__job_template_##name

#define VOLUME_SOURCES                                                                        \
	"awsElasticBlockStore azureDisk azureFile cephfs cinder configMap csi downwardAPI "   \
	"emptyDir ephemeral fc "                                                              \
	"flexVolume flocker gcePersistentDisk gitRepo glusterfs hostPath image iscsi nfs "    \
	"persistentVolumeClaim "                                                              \
	"photonPersistentDisk portworxVolume projected quobyte rbd scaleIO secret storageos " \
	"vsphereVolume"

/* Rows of one type are consecutive. */
static const struct mpijob__job_template_row rows[] = {
	{ SCHEMA_ObjectMeta, RULE(metadata) },

	{ SCHEMA_PodSpec, .key = "activeDeadlineSeconds", RANGE(1, INT32_MAX) },
	{ SCHEMA_PodSpec, .key = "serviceAccountName", FORM(subdomain) },
	{ SCHEMA_PodSpec, .key = "nodeName", FORM(subdomain) },
	{ SCHEMA_PodSpec, .key = "priorityClassName", FORM(subdomain) },
	{ SCHEMA_PodSpec, .key = "runtimeClassName", FORM(subdomain) },
	{ SCHEMA_PodSpec, .key = "hostnameOverride", FORM(host) },
	{ SCHEMA_PodSpec, .key = "restartPolicy", ANY_WORD }, /* the role's policy replaces it */
	{ SCHEMA_PodSpec, .key = "dnsPolicy", ANY_WORD },     /* checked only without hostNetwork */
	{ SCHEMA_PodSpec, RULE(pod) },
	{ SCHEMA_PodSpec, RULE(dns) },
	{ SCHEMA_PodSpec, RULE(host_names) },
	{ SCHEMA_PodSpec, RULE(volumes) },
	{ SCHEMA_PodSpec, RULE(containers) },
	{ SCHEMA_PodSpec, RULE(pod_resources) },
	{ SCHEMA_PodSpec, RULE(windows) },

	{ SCHEMA_PreferredSchedulingTerm, .key = "weight", REQUIRED_RANGE(1, 100) },
	{ SCHEMA_NodeSelectorTerm, RULE(node_selector) },
	{ SCHEMA_NodeSelectorRequirement, .key = "operator", ANY_WORD },
	{ SCHEMA_NodeSelector, .key = "nodeSelectorTerms", REQUIRED },
	{ SCHEMA_WeightedPodAffinityTerm, .key = "weight", REQUIRED_RANGE(1, 100) },
	{ SCHEMA_PodAffinityTerm, .key = "topologyKey", REQUIRED, FORM(key) },
	{ SCHEMA_PodAffinityTerm, .key = "namespaces", FORM(label) },
	{ SCHEMA_PodAffinityTerm, RULE(affinity) },
	{ SCHEMA_LabelSelector, RULE(selector) },

	{ SCHEMA_Container, .key = "name", REQUIRED, FORM(label) },
	{ SCHEMA_Container, .key = "image", REQUIRED, FORM(image) },
	{ SCHEMA_Container, RULE(container) },
	{ SCHEMA_Container, RULE(annotated) },
	{ SCHEMA_EnvVar, .key = "name", REQUIRED, FORM(variable) },
	{ SCHEMA_EnvVar, RULE(variable) },
	{ SCHEMA_EnvVarSource,
	    ONE_OF(1, "fieldRef resourceFieldRef configMapKeyRef secretKeyRef fileKeyRef") },
	{ SCHEMA_ConfigMapKeySelector, .key = "name", REQUIRED, FORM(subdomain) },
	{ SCHEMA_ConfigMapKeySelector, .key = "key", REQUIRED, FORM(file) },
	{ SCHEMA_ObjectFieldSelector, .key = "fieldPath", REQUIRED },
	{ SCHEMA_ObjectFieldSelector, RULE(field_ref) },
	{ SCHEMA_FileKeySelector, .key = "key", REQUIRED, FORM(variable) },
	{ SCHEMA_FileKeySelector, .key = "path", REQUIRED, FORM(no_dotdot) },
	{ SCHEMA_FileKeySelector, .key = "volumeName", REQUIRED, FORM(label) },
	{ SCHEMA_ResourceFieldSelector, .key = "resource", REQUIRED },
	{ SCHEMA_ResourceFieldSelector, RULE(resource_ref) },
	{ SCHEMA_SecretKeySelector, .key = "name", REQUIRED, FORM(subdomain) },
	{ SCHEMA_SecretKeySelector, .key = "key", REQUIRED, FORM(file) },
	{ SCHEMA_EnvFromSource, .key = "prefix", FORM(variable) },
	{ SCHEMA_EnvFromSource, ONE_OF(1, "configMapRef secretRef") },
	{ SCHEMA_ConfigMapEnvSource, .key = "name", REQUIRED, FORM(prefix) },
	{ SCHEMA_SecretEnvSource, .key = "name", REQUIRED, FORM(prefix) },
	{ SCHEMA_Lifecycle, .key = "stopSignal", ANY_WORD }, /* dropped: off in 1.36 */
	{ SCHEMA_LifecycleHandler, ONE_OF(1, "exec httpGet tcpSocket sleep") },
	{ SCHEMA_ExecAction, .key = "command", REQUIRED },
	{ SCHEMA_HTTPGetAction, RULE(port) },
	{ SCHEMA_HTTPHeader, .key = "name", REQUIRED, FORM(header) },
	{ SCHEMA_SleepAction, RULE(sleep) },
	{ SCHEMA_TCPSocketAction, RULE(port) },
	{ SCHEMA_Probe, .key = "initialDelaySeconds", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "timeoutSeconds", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "periodSeconds", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "successThreshold", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "failureThreshold", AT_LEAST(0) },
	{ SCHEMA_Probe, .key = "terminationGracePeriodSeconds", AT_LEAST(1) },
	{ SCHEMA_Probe, ONE_OF(1, "exec httpGet tcpSocket grpc") },
	{ SCHEMA_Probe, RULE(probe) },
	{ SCHEMA_GRPCAction, .key = "port", REQUIRED_RANGE(1, 65535) },
	{ SCHEMA_ContainerPort, .key = "containerPort", REQUIRED_RANGE(1, 65535) },
	{ SCHEMA_ContainerPort, .key = "hostPort", RANGE(1, 65535) },
	{ SCHEMA_ContainerPort, .key = "name", FORM(port) },
	{ SCHEMA_ContainerResizePolicy, .key = "resourceName", REQUIRED },
	{ SCHEMA_ContainerResizePolicy, .key = "restartPolicy", REQUIRED },
	{ SCHEMA_ResourceRequirements, RULE(resources) },
	{ SCHEMA_ContainerRestartRule, .key = "exitCodes", REQUIRED },
	{ SCHEMA_SecurityContext, .key = "runAsUser", ID },
	{ SCHEMA_SecurityContext, .key = "runAsGroup", ID },
	{ SCHEMA_SecurityContext, RULE(security) },
	{ SCHEMA_AppArmorProfile, .key = "type", REQUIRED },
	{ SCHEMA_AppArmorProfile, RULE(apparmor) },
	{ SCHEMA_SeccompProfile, .key = "type", REQUIRED },
	{ SCHEMA_SeccompProfile, RULE(seccomp) },
	{ SCHEMA_WindowsSecurityContextOptions, .key = "gmsaCredentialSpecName", FORM(subdomain) },
	{ SCHEMA_WindowsSecurityContextOptions, .key = "gmsaCredentialSpec", FORM(credential) },
	{ SCHEMA_WindowsSecurityContextOptions, .key = "runAsUserName", FORM(windows_user) },
	{ SCHEMA_VolumeDevice, .key = "name", REQUIRED },
	{ SCHEMA_VolumeDevice, .key = "devicePath", REQUIRED, FORM(no_dotdot) },
	{ SCHEMA_VolumeMount, .key = "name", REQUIRED },
	{ SCHEMA_VolumeMount, .key = "mountPath", REQUIRED },
	{ SCHEMA_VolumeMount, .key = "subPath", FORM(relative) },
	{ SCHEMA_VolumeMount, .key = "subPathExpr", FORM(relative) },
	{ SCHEMA_VolumeMount, RULE(mount) },

	{ SCHEMA_PodDNSConfig, .key = "nameservers", FORM(address) },
	{ SCHEMA_PodDNSConfig, .key = "searches", FORM(search) },
	{ SCHEMA_PodDNSConfigOption, .key = "name", REQUIRED },
	{ SCHEMA_HostAlias, .key = "ip", REQUIRED, FORM(address) },
	{ SCHEMA_HostAlias, .key = "hostnames", FORM(subdomain) },
	{ SCHEMA_PodOS, .key = "name", REQUIRED },
	{ SCHEMA_PodReadinessGate, .key = "conditionType", REQUIRED, FORM(key) },
	{ SCHEMA_PodResourceClaim, .key = "name", REQUIRED, FORM(label) },
	{ SCHEMA_PodResourceClaim, .key = "resourceClaimName", FORM(subdomain) },
	{ SCHEMA_PodResourceClaim, .key = "resourceClaimTemplateName", FORM(subdomain) },
	{ SCHEMA_PodResourceClaim, ONE_OF(1, "resourceClaimName resourceClaimTemplateName") },
	{ SCHEMA_PodSchedulingGate, .key = "name", REQUIRED, FORM(key) },
	{ SCHEMA_PodSecurityContext, .key = "fsGroup", ID },
	{ SCHEMA_PodSecurityContext, .key = "runAsUser", ID },
	{ SCHEMA_PodSecurityContext, .key = "runAsGroup", ID },
	{ SCHEMA_PodSecurityContext, .key = "supplementalGroups", ID },
	{ SCHEMA_PodSecurityContext, RULE(pod_security) },
	{ SCHEMA_Sysctl, .key = "name", REQUIRED, FORM(sysctl) },
	{ SCHEMA_Toleration, .key = "key", FORM(key) },
	{ SCHEMA_Toleration, RULE(toleration) },
	{ SCHEMA_TopologySpreadConstraint, .key = "maxSkew", REQUIRED_RANGE(1, INT64_MAX) },
	{ SCHEMA_TopologySpreadConstraint, .key = "topologyKey", REQUIRED },
	{ SCHEMA_TopologySpreadConstraint, .key = "whenUnsatisfiable", REQUIRED },
	{ SCHEMA_TopologySpreadConstraint, .key = "minDomains", AT_LEAST(1) },
	{ SCHEMA_TopologySpreadConstraint, RULE(spread) },

	{ SCHEMA_Volume, .key = "name", REQUIRED, FORM(label) },
	{ SCHEMA_Volume, ONE_OF(0, VOLUME_SOURCES) },
	{ SCHEMA_Volume, RULE(volume) },
	{ SCHEMA_AWSElasticBlockStoreVolumeSource, .key = "volumeID", REQUIRED },
	{ SCHEMA_AWSElasticBlockStoreVolumeSource, .key = "partition", RANGE(0, 255) },
	{ SCHEMA_AzureDiskVolumeSource, .key = "diskName", REQUIRED },
	{ SCHEMA_AzureDiskVolumeSource, .key = "diskURI", REQUIRED },
	{ SCHEMA_AzureDiskVolumeSource, RULE(azure_disk) },
	{ SCHEMA_AzureFileVolumeSource, .key = "secretName", REQUIRED },
	{ SCHEMA_AzureFileVolumeSource, .key = "shareName", REQUIRED },
	{ SCHEMA_CephFSVolumeSource, .key = "monitors", REQUIRED },
	{ SCHEMA_CinderVolumeSource, .key = "volumeID", REQUIRED },
	{ SCHEMA_ConfigMapVolumeSource, .key = "name", REQUIRED },
	{ SCHEMA_ConfigMapVolumeSource, .key = "defaultMode", MODE },
	{ SCHEMA_KeyToPath, .key = "key", REQUIRED },
	{ SCHEMA_KeyToPath, .key = "path", REQUIRED, FORM(projected) },
	{ SCHEMA_KeyToPath, .key = "mode", MODE },
	{ SCHEMA_CSIVolumeSource, .key = "driver", REQUIRED, FORM(driver) },
	{ SCHEMA_DownwardAPIVolumeSource, .key = "defaultMode", MODE },
	{ SCHEMA_DownwardAPIVolumeFile, .key = "path", REQUIRED, FORM(projected) },
	{ SCHEMA_DownwardAPIVolumeFile, .key = "mode", MODE },
	{ SCHEMA_DownwardAPIVolumeFile, ONE_OF(1, "fieldRef resourceFieldRef") },
	{ SCHEMA_EmptyDirVolumeSource, RULE(empty_dir) },
	{ SCHEMA_EphemeralVolumeSource, .key = "volumeClaimTemplate", REQUIRED },
	{ SCHEMA_PersistentVolumeClaimSpec, .key = "accessModes", REQUIRED },
	{ SCHEMA_PersistentVolumeClaimSpec, .key = "storageClassName", ANY_WORD },
	{ SCHEMA_PersistentVolumeClaimSpec, RULE(volume_claim) },
	{ SCHEMA_TypedLocalObjectReference, .key = "kind", REQUIRED },
	{ SCHEMA_TypedLocalObjectReference, .key = "name", REQUIRED },
	{ SCHEMA_TypedLocalObjectReference, RULE(data_source) },
	{ SCHEMA_TypedObjectReference, .key = "kind", REQUIRED },
	{ SCHEMA_TypedObjectReference, .key = "name", REQUIRED },
	{ SCHEMA_TypedObjectReference, RULE(data_source) },
	{ SCHEMA_FCVolumeSource, RULE(fc) },
	{ SCHEMA_FlexVolumeSource, .key = "driver", REQUIRED },
	{ SCHEMA_FlexVolumeSource, RULE(flex) },
	{ SCHEMA_FlockerVolumeSource, .key = "datasetName", FORM(no_slash) },
	{ SCHEMA_FlockerVolumeSource, ONE_OF(1, "datasetName datasetUUID") },
	{ SCHEMA_GCEPersistentDiskVolumeSource, .key = "pdName", REQUIRED },
	{ SCHEMA_GCEPersistentDiskVolumeSource, .key = "partition", RANGE(0, 255) },
	{ SCHEMA_GitRepoVolumeSource, .key = "repository", REQUIRED },
	{ SCHEMA_GitRepoVolumeSource, .key = "directory", FORM(relative) },
	{ SCHEMA_GlusterfsVolumeSource, .key = "endpoints", REQUIRED },
	{ SCHEMA_GlusterfsVolumeSource, .key = "path", REQUIRED },
	{ SCHEMA_HostPathVolumeSource, .key = "path", REQUIRED, FORM(no_dotdot) },
	{ SCHEMA_ImageVolumeSource, .key = "reference", REQUIRED },
	{ SCHEMA_ISCSIVolumeSource, .key = "targetPortal", REQUIRED },
	{ SCHEMA_ISCSIVolumeSource, .key = "iqn", REQUIRED, FORM(iscsi) },
	{ SCHEMA_ISCSIVolumeSource, .key = "initiatorName", FORM(iscsi) },
	{ SCHEMA_ISCSIVolumeSource, .key = "lun", RANGE(0, 255) },
	{ SCHEMA_ISCSIVolumeSource, RULE(iscsi) },
	{ SCHEMA_NFSVolumeSource, .key = "server", REQUIRED },
	{ SCHEMA_NFSVolumeSource, .key = "path", REQUIRED, FORM(absolute) },
	{ SCHEMA_PersistentVolumeClaimVolumeSource, .key = "claimName", REQUIRED },
	{ SCHEMA_PhotonPersistentDiskVolumeSource, .key = "pdID", REQUIRED },
	{ SCHEMA_PortworxVolumeSource, .key = "volumeID", REQUIRED },
	{ SCHEMA_ProjectedVolumeSource, .key = "defaultMode", MODE },
	{ SCHEMA_ProjectedVolumeSource, RULE(projected) },
	{ SCHEMA_VolumeProjection, ONE_OF(0, "configMap downwardAPI secret serviceAccountToken") },
	{ SCHEMA_ConfigMapProjection, .key = "name", REQUIRED },
	{ SCHEMA_SecretProjection, .key = "name", REQUIRED },
	{ SCHEMA_ServiceAccountTokenProjection, .key = "expirationSeconds",
	    RANGE(600, INT64_C(1) << 32) },
	{ SCHEMA_ServiceAccountTokenProjection, .key = "path", REQUIRED, FORM(projected) },
	{ SCHEMA_QuobyteVolumeSource, .key = "registry", REQUIRED, FORM(registry) },
	{ SCHEMA_QuobyteVolumeSource, .key = "volume", REQUIRED },
	{ SCHEMA_QuobyteVolumeSource, .key = "tenant", FORM(tenant) },
	{ SCHEMA_RBDVolumeSource, .key = "monitors", REQUIRED },
	{ SCHEMA_RBDVolumeSource, .key = "image", REQUIRED },
	{ SCHEMA_ScaleIOVolumeSource, .key = "gateway", REQUIRED },
	{ SCHEMA_ScaleIOVolumeSource, .key = "system", REQUIRED },
	{ SCHEMA_ScaleIOVolumeSource, .key = "volumeName", REQUIRED },
	{ SCHEMA_SecretVolumeSource, .key = "secretName", REQUIRED },
	{ SCHEMA_SecretVolumeSource, .key = "defaultMode", MODE },
	{ SCHEMA_StorageOSVolumeSource, .key = "volumeName", REQUIRED, FORM(label) },
	{ SCHEMA_StorageOSVolumeSource, .key = "volumeNamespace", FORM(label) },
	{ SCHEMA_VsphereVirtualDiskVolumeSource, .key = "volumePath", REQUIRED },
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
