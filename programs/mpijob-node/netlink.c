/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Network interfaces through rtnetlink: the bridge of the node, and for each pod a veth pair with
 * one end on the bridge and the other as the pod's eth0. The MAC address of a pod is derived from
 * its IP address, so that ARP caches stay valid when a new pod reuses an address.
 */
#include "node.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define PREFIX 16 /* length of 198.18.0.0/16 */

struct message {
	union {
		struct nlmsghdr header;
		char bytes[1024];
	} u;
};

static void append(struct message *m, const void *data, size_t len)
{
	size_t at = NLMSG_ALIGN(m->u.header.nlmsg_len);

	if (at + len > sizeof(m->u))
		die_errno(EMSGSIZE, MPIJOB_ERR_IO, "a message to the kernel is too long");
	memcpy(m->u.bytes + at, data, len);
	m->u.header.nlmsg_len = (uint32_t)(at + len);
}

static void begin(struct message *m, uint16_t type, uint16_t flags, const void *body, size_t len)
{
	memset(m, 0, sizeof(*m));
	m->u.header.nlmsg_len = NLMSG_HDRLEN;
	m->u.header.nlmsg_type = type;
	m->u.header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | NLM_F_ACK | flags);
	append(m, body, len);
}

static void attribute(struct message *m, uint16_t type, const void *data, size_t len)
{
	struct rtattr header = { .rta_len = (uint16_t)RTA_LENGTH(len), .rta_type = type };

	append(m, &header, sizeof(header));
	if (len)
		append(m, data, len);
}

static size_t begin_nested(struct message *m, uint16_t type)
{
	size_t at = NLMSG_ALIGN(m->u.header.nlmsg_len);

	attribute(m, type, NULL, 0);
	return at;
}

static void end_nested(struct message *m, size_t at)
{
	uint16_t len = (uint16_t)(m->u.header.nlmsg_len - at);

	memcpy(m->u.bytes + at, &len, sizeof(len));
}

/* Send a request and read the acknowledgement. 0 or an errno. */
static int exchange(int fd, struct message *m)
{
	struct message answer;
	struct nlmsgerr result;
	ssize_t n;

	if (send(fd, &m->u, m->u.header.nlmsg_len, 0) < 0)
		return errno;
	n = recv(fd, &answer.u, sizeof(answer.u), MSG_TRUNC);
	if (n < 0)
		return errno;
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(result)) || answer.u.header.nlmsg_type != NLMSG_ERROR)
		return EPROTO;
	memcpy(&result, NLMSG_DATA(&answer.u.header), sizeof(result));
	return -result.error;
}

int netlink_open(void)
{
	int one = 1;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd >= 0) /* acknowledgements without a copy of the request */
		setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	return fd;
}

/* The index of an interface, or 0 with errno. if_nametoindex() would open a socket, and report a
 * missing interface if it cannot. */
static int link_index(int fd, const char *name)
{
	struct ifreq request = { 0 };

	/* names of the node are shorter than IFNAMSIZ */
	memcpy(request.ifr_name, name, strlen(name));
	return ioctl(fd, SIOCGIFINDEX, &request) ? 0 : request.ifr_ifindex;
}

static int set_link_up(int fd, const char *name)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP };
	struct message m;

	info.ifi_index = link_index(fd, name);
	if (info.ifi_index == 0)
		return errno;
	begin(&m, RTM_NEWLINK, 0, &info, sizeof(info));
	return exchange(fd, &m);
}

static int add_address(int fd, const char *name, struct in_addr address)
{
	struct ifaddrmsg info = { .ifa_family = AF_INET,
		.ifa_prefixlen = PREFIX,
		.ifa_scope = RT_SCOPE_UNIVERSE };
	struct in_addr broadcast = { address.s_addr | htonl((1u << (32 - PREFIX)) - 1) };
	struct message m;

	info.ifa_index = (unsigned)link_index(fd, name);
	if (info.ifa_index == 0)
		return errno;
	begin(&m, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	attribute(&m, IFA_LOCAL, &address, sizeof(address));
	attribute(&m, IFA_ADDRESS, &address, sizeof(address));
	attribute(&m, IFA_BROADCAST, &broadcast, sizeof(broadcast));
	return exchange(fd, &m);
}

int netlink_loopback(int fd)
{
	return set_link_up(fd, "lo");
}

int netlink_bridge(int fd, const char *name, struct in_addr address)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct message m;
	size_t at;
	int rc;

	begin(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	attribute(&m, IFLA_IFNAME, name, strlen(name) + 1);
	at = begin_nested(&m, IFLA_LINKINFO);
	attribute(&m, IFLA_INFO_KIND, "bridge", sizeof("bridge"));
	end_nested(&m, at);
	rc = exchange(fd, &m);
	if (!rc)
		rc = add_address(fd, name, address);
	return rc ? rc : set_link_up(fd, name);
}

static void hardware_address(unsigned char mac[6], struct in_addr address)
{
	mac[0] = 0x02; /* locally administered */
	mac[1] = 0x42;
	memcpy(mac + 2, &address.s_addr, 4);
}

int netlink_veth(int fd, const char *name, const char *bridge, int peer_namespace,
    struct in_addr peer_address)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP };
	struct ifinfomsg peer = { .ifi_family = AF_UNSPEC };
	uint32_t master = (uint32_t)link_index(fd, bridge);
	unsigned char mac[6];
	size_t link;
	size_t data;
	size_t other;
	struct message m;

	if (master == 0)
		return errno;
	hardware_address(mac, peer_address);
	begin(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	attribute(&m, IFLA_IFNAME, name, strlen(name) + 1);
	attribute(&m, IFLA_MASTER, &master, sizeof(master));
	link = begin_nested(&m, IFLA_LINKINFO);
	attribute(&m, IFLA_INFO_KIND, "veth", sizeof("veth"));
	data = begin_nested(&m, IFLA_INFO_DATA);
	other = begin_nested(&m, VETH_INFO_PEER);
	append(&m, &peer, sizeof(peer));
	attribute(&m, IFLA_IFNAME, "eth0", sizeof("eth0"));
	attribute(&m, IFLA_ADDRESS, mac, sizeof(mac));
	attribute(&m, IFLA_NET_NS_FD, &peer_namespace, sizeof(peer_namespace));
	end_nested(&m, other);
	end_nested(&m, data);
	end_nested(&m, link);
	return exchange(fd, &m);
}

int netlink_eth0(int fd, struct in_addr address)
{
	int rc = add_address(fd, "eth0", address);

	return rc ? rc : set_link_up(fd, "eth0");
}
