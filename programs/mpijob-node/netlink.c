/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interfaces by raw rtnetlink: the bridge of the node, and per pod a veth pair whose one end sits
 * on the bridge and whose other end is the pod's eth0. A pod's hardware address follows from its IP
 * address, so that a pod that takes over an address needs no one's ARP table to change.
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

#define PREFIX 16 /* of 198.18.0.0/16 */

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
		die_errno(EMSGSIZE, MPIJOB_ERR_IO, "a message to the kernel grew too long");
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

static size_t nest(struct message *m, uint16_t type)
{
	size_t at = NLMSG_ALIGN(m->u.header.nlmsg_len);

	attribute(m, type, NULL, 0);
	return at;
}

static void unnest(struct message *m, size_t at)
{
	uint16_t len = (uint16_t)(m->u.header.nlmsg_len - at);

	memcpy(m->u.bytes + at, &len, sizeof(len));
}

/* Send and take the kernel's verdict. */
static int ask(int fd, struct message *m)
{
	struct message answer;
	struct nlmsgerr verdict;
	ssize_t n;

	if (send(fd, &m->u, m->u.header.nlmsg_len, 0) < 0)
		return errno;
	n = recv(fd, &answer.u, sizeof(answer.u), MSG_TRUNC);
	if (n < 0)
		return errno;
	if (n < (ssize_t)NLMSG_LENGTH(sizeof(verdict)) || answer.u.header.nlmsg_type != NLMSG_ERROR)
		return EPROTO;
	memcpy(&verdict, NLMSG_DATA(&answer.u.header), sizeof(verdict));
	return -verdict.error;
}

int netlink_open(void)
{
	int one = 1;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd >= 0) /* the verdict alone, not the request again */
		setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	return fd;
}

/* if_nametoindex() opens a socket for it, and tells of a missing interface when it cannot. 0 and
 * errno. */
static int link_index(int fd, const char *name)
{
	struct ifreq request = { 0 };

	/* shorter than IFNAMSIZ: the node makes them */
	memcpy(request.ifr_name, name, strlen(name));
	return ioctl(fd, SIOCGIFINDEX, &request) ? 0 : request.ifr_ifindex;
}

static int raise_link(int fd, const char *name)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC,
		.ifi_flags = IFF_UP,
		.ifi_change = IFF_UP };
	struct message m;

	info.ifi_index = link_index(fd, name);
	if (info.ifi_index == 0)
		return errno;
	begin(&m, RTM_NEWLINK, 0, &info, sizeof(info));
	return ask(fd, &m);
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
	return ask(fd, &m);
}

int netlink_loopback(int fd)
{
	return raise_link(fd, "lo");
}

int netlink_bridge(int fd, const char *name, struct in_addr address)
{
	struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct message m;
	size_t at;
	int e;

	begin(&m, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &info, sizeof(info));
	attribute(&m, IFLA_IFNAME, name, strlen(name) + 1);
	at = nest(&m, IFLA_LINKINFO);
	attribute(&m, IFLA_INFO_KIND, "bridge", sizeof("bridge"));
	unnest(&m, at);
	e = ask(fd, &m);
	if (!e)
		e = add_address(fd, name, address);
	return e ? e : raise_link(fd, name);
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
	link = nest(&m, IFLA_LINKINFO);
	attribute(&m, IFLA_INFO_KIND, "veth", sizeof("veth"));
	data = nest(&m, IFLA_INFO_DATA);
	other = nest(&m, VETH_INFO_PEER);
	append(&m, &peer, sizeof(peer));
	attribute(&m, IFLA_IFNAME, "eth0", sizeof("eth0"));
	attribute(&m, IFLA_ADDRESS, mac, sizeof(mac));
	attribute(&m, IFLA_NET_NS_FD, &peer_namespace, sizeof(peer_namespace));
	unnest(&m, other);
	unnest(&m, data);
	unnest(&m, link);
	return ask(fd, &m);
}

int netlink_eth0(int fd, struct in_addr address)
{
	int e = add_address(fd, "eth0", address);

	return e ? e : raise_link(fd, "eth0");
}
