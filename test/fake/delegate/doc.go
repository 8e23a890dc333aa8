// Command delegate is the recording delegate: a CNI plugin that configures nothing, writes down each call and answers
// as a script beside its binary says. Installed under any name, it stands for that plugin.
//
// The script of /opt/cni/bin/macvlan is /opt/cni/bin/macvlan.json; package script has its format. Without one, it
// behaves as a plugin that works:
//
//   - ADD gives the configuration's prevResult, or else an interface CNI_IFNAME in CNI_NETNS with an address that is
//     derived from container and interface;
//   - VERSION gives the versions that it speaks;
//   - other commands print nothing.
//
// A configuration whose cniVersion it does not speak gets CNI error 1.
//
// It touches the files that its script names, and "<binary>.rule<i>" beside itself, which counts the calls of a rule
// with a limit.
package main
