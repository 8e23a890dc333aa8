#!/bin/sh
# Installs multus on a node (binary, kubeconfig, configuration) and keeps it there until it is told to stop. It writes
# each file under another name in the same directory and renames it, so that nobody ever sees a part of one. What is
# JSON or YAML, the binary reads and writes. See --help and doc/install.md.
set -eu
umask 077
unset CNI_COMMAND # with it the binary would be a plugin instead of a tool

temp='' sleeper='' installed='' newline='
'
account=${SERVICE_ACCOUNT_DIR:-/var/run/secrets/kubernetes.io/serviceaccount}

flags="cleanup-config-on-exit force-cni-version force-config-watch multus-log-to-stderr namespace-isolation \
override-network-name rename-conf-file restart-crio skip-config-watch skip-multus-binary-copy skip-tls-verify uninstall"
texts="additional-bin-dir cni-bin-dir cni-conf-dir cni-version global-namespaces multus-autoconfig-dir multus-bin-file \
multus-cni-conf-dir multus-conf-file multus-kubeconfig-file-host multus-log-file multus-log-level \
multus-master-cni-file-name readiness-indicator-file"

additional_bin_dir='' cni_bin_dir=/host/opt/cni/bin cni_conf_dir=/host/etc/cni/net.d cni_version='' global_namespaces=''
multus_autoconfig_dir=/host/etc/cni/net.d multus_bin_file=/usr/src/multus-cni/bin/multus multus_cni_conf_dir=''
multus_conf_file=auto multus_kubeconfig_file_host=/etc/cni/net.d/multus.d/multus.kubeconfig multus_log_file=''
multus_log_level='' multus_master_cni_file_name='' readiness_indicator_file=''
cleanup_config_on_exit=false multus_log_to_stderr=true namespace_isolation=false override_network_name=false
rename_conf_file=false skip_config_watch=false skip_multus_binary_copy=false skip_tls_verify=false uninstall=false

usage() {
	cat <<'HELP'
usage: entrypoint.sh OPTION…

Installs multus on a node and keeps it there. "--flag=value" and "--flag value" mean the same; true or false (1, t, 0, f)
may be left out for true. Paths of directories are as this container sees them, those marked * as the node does.

  --cni-bin-dir DIR                  the node's plugins; default /host/opt/cni/bin
  --cni-conf-dir DIR                 the runtime's configuration; default /host/etc/cni/net.d
  --multus-autoconfig-dir DIR        where the primary network's is looked for; default /host/etc/cni/net.d
  --multus-master-cni-file-name NAME its file name; default: the first valid one in lexical order
  --multus-conf-file FILE            install this configuration instead of a generated one; default auto
  --multus-bin-file FILE             default /usr/src/multus-cni/bin/multus
  --skip-multus-binary-copy          the binary is on the node already
  --rename-conf-file                 give the primary network's file the ending .old
  --skip-config-watch                install once, then only wait for the end
  --cleanup-config-on-exit           on SIGTERM remove the configuration and kubeconfig
  --uninstall                        remove binary, configuration and kubeconfig, and exit
  --skip-tls-verify                  do not verify the API server's certificate
  --multus-kubeconfig-file-host FILE * default /etc/cni/net.d/multus.d/multus.kubeconfig

What goes into the generated configuration:

  --cni-version VERSION              default: the primary network's
  --multus-cni-conf-dir DIR          * configurations by network name
  --additional-bin-dir DIR           * plugins, searched before the runtime's directories
  --namespace-isolation              pods use networks of their own namespace only
  --global-namespaces LIST           and of these
  --multus-log-level LEVEL           panic, error, verbose or debug
  --multus-log-file FILE             *
  --multus-log-to-stderr false       no log on standard error
  --readiness-indicator-file FILE    * pods wait for it
  --override-network-name            take the primary network's name

Accepted and without effect: --force-cni-version, --force-config-watch, --restart-crio.
HELP
}

log() {
	echo "$(date -u +%Y-%m-%dT%H:%M:%SZ) $*" >&2
}

die() {
	log "error: $*"
	exit 1
}

### Options (ENT-11)

boolean() {
	case $1 in
	1 | t | T | true | TRUE | True) echo true ;;
	0 | f | F | false | FALSE | False) echo false ;;
	*) return 1 ;;
	esac
}

# nearest NAME prints the option that takes the fewest edits.
nearest() {
	# shellcheck disable=SC2086 # words
	printf '%s\n' $flags $texts | awk -v want="$1" '
		function least(a, b, c) { return a < b ? (a < c ? a : c) : (b < c ? b : c) }
		{
			for (j = 0; j <= length($0); j++) row[j] = j
			for (i = 1; i <= length(want); i++) {
				diagonal = row[0]; row[0] = i
				for (j = 1; j <= length($0); j++) {
					same = substr(want, i, 1) == substr($0, j, 1)
					next_diagonal = row[j]
					row[j] = least(diagonal + !same, row[j] + 1, row[j - 1] + 1)
					diagonal = next_diagonal
				}
			}
			if (NR == 1 || row[length($0)] < best) { best = row[length($0)]; name = $0 }
		}
		END { print name }'
}

# kind NAME prints which of the two lists an option is in.
kind() {
	case $1 in *[!a-z-]*) echo unknown && return ;; esac
	case " $flags " in *" $1 "*) echo flag && return ;; esac
	case " $texts " in *" $1 "*) echo text && return ;; esac
	echo unknown
}

read_options() {
	while [ $# -gt 0 ]; do
		name=${1%%=*} value=${1#*=} given=
		case $1 in
		--help | -help | -h) usage && exit 0 ;;
		--*=*) given=yes ;;
		--*) ;;
		*)
			log "warning: ignored, as it is no option: $1"
			shift && continue
			;;
		esac
		name=${name#--}
		shift
		case $(kind "$name") in
		flag)
			[ -n "$given" ] || value=true
			[ -n "$given" ] || [ $# = 0 ] || ! boolean "$1" >/dev/null || { value=$1 && shift; }
			value=$(boolean "$value") || die "--$name: must be true or false"
			;;
		text)
			[ -n "$given" ] || [ $# -gt 0 ] || die "--$name: needs a value"
			[ -n "$given" ] || { value=$1 && shift; }
			;;
		unknown)
			log "warning: there is no option --$name, going on without; did you mean --$(nearest "$name")?"
			case ${given:-${1---}} in yes | --*) ;; *) shift ;; esac
			continue
			;;
		esac
		eval "$(echo "$name" | tr - _)=\$value"
	done
	cni_bin_dir=${cni_bin_dir%/} cni_conf_dir=${cni_conf_dir%/} multus_autoconfig_dir=${multus_autoconfig_dir%/}
	kubeconfig=$cni_conf_dir/multus.d/multus.kubeconfig
	renamed=$cni_conf_dir/multus.d/renamed # names of the masters that are called .old now, one a line
	own=$cni_conf_dir/${multus_conf_file##*/}
	multus=$multus_bin_file
}

### Files (ENT-2)

# put FILE MODE COMMAND… makes what the command prints the content of the file.
put() {
	target=$1 mode=$2
	shift 2
	if ! { temp=$(mktemp "${target%/*}/.multus.XXXXXX") && "$@" >"$temp" && chmod "$mode" "$temp" && sync "$temp" &&
		[ ! -d "$target" ] && mv -f "$temp" "$target" && sync "${target%/*}"; }; then
		die "cannot write $target; is the directory of the node mounted, writable and not full?"
	fi
	temp=''
	log "wrote $target"
}

# holds FILE TEXT: it has this content, and is for nobody else to read.
holds() {
	[ -f "$1" ] && [ "$(stat -c %a "$1")" = 600 ] && [ "$(cat "$1")" = "$2" ]
}

# sweep removes what somebody left who was killed while writing; younger files may be another container's.
sweep() {
	find "$cni_bin_dir" "$cni_conf_dir" "$cni_conf_dir/multus.d" -maxdepth 1 -name '.multus.??????' -mmin +1 \
		-exec rm -f {} + 2>/dev/null || :
}

### What is installed

install_binary() {
	if [ "$skip_multus_binary_copy" = false ]; then
		multus=$cni_bin_dir/multus
		{ [ -x "$multus" ] && cmp -s "$multus_bin_file" "$multus"; } || put "$multus" 755 cat "$multus_bin_file"
	elif [ -x "$cni_bin_dir/multus" ]; then
		multus=$cni_bin_dir/multus
	fi
	version=$("$multus" --version) || die "$multus does not run; is it of this machine's architecture, and $cni_bin_dir not mounted noexec?"
	log "$multus: $version"
}

generate_kubeconfig() {
	"$multus" generate-kubeconfig --host="${KUBERNETES_SERVICE_HOST-}" --port="${KUBERNETES_SERVICE_PORT-}" \
		--protocol="${KUBERNETES_SERVICE_PROTOCOL-}" --token-file="$account/token" --ca-file="$account/ca.crt" \
		--namespace="$(cat "$account/namespace" 2>/dev/null || echo kube-system)" --skip-tls-verify="$skip_tls_verify" 2>&1
}

# An incomplete one never replaces a good one.
install_kubeconfig() {
	if ! text=$(generate_kubeconfig); then
		log "warning: keeping $kubeconfig: $text"
	elif ! holds "$kubeconfig" "$text"; then
		put "$kubeconfig" 600 printf '%s\n' "$text"
	fi
}

# generate_config prints the name, the master's path, then the configuration; or the reason why not.
generate_config() {
	if [ "$multus_conf_file" != auto ]; then
		"$multus" generate-config --header --multus-conf-file="$multus_conf_file" 2>&1
		return
	fi
	"$multus" generate-config --header --keep="$cni_conf_dir" --renamed="$renamed" --kubeconfig="$multus_kubeconfig_file_host" \
		--multus-autoconfig-dir="$multus_autoconfig_dir" --multus-master-cni-file-name="$multus_master_cni_file_name" \
		--cni-version="$cni_version" --multus-cni-conf-dir="$multus_cni_conf_dir" --additional-bin-dir="$additional_bin_dir" \
		--namespace-isolation="$namespace_isolation" --global-namespaces="$global_namespaces" \
		--multus-log-level="$multus_log_level" --multus-log-file="$multus_log_file" \
		--multus-log-to-stderr="$multus_log_to_stderr" --readiness-indicator-file="$readiness_indicator_file" \
		--override-network-name="$override_network_name" 2>&1
}

install_configuration() {
	if ! text=$(generate_config); then
		why=$text
		[ -z "$installed" ] || log "warning: keeping $installed: $why"
		return 0
	fi
	file=$cni_conf_dir/${text%%"$newline"*} text=${text#*"$newline"}
	master=${text%%"$newline"*} text=${text#*"$newline"}
	if ! holds "$file" "$text"; then
		[ "$installed" != "$file" ] || [ -e "$file" ] || log "warning: $file was taken away by somebody else, writing it again"
		put "$file" 600 printf '%s\n' "$text"
	fi
	for other in "$cni_conf_dir/00-multus.conf" "$cni_conf_dir/00-multus.conflist"; do
		[ "$other" = "$file" ] || rm -f "$other"
	done
	rename_master
	[ -n "$installed" ] || log "in place: $file, around $master"
	installed=$file
}

# rename_master notes the name before it renames, so that a restart and an uninstall find it (ENT-9).
rename_master() {
	[ "$rename_conf_file$multus_conf_file" = trueauto ] && [ "${master%.old}" = "$master" ] || return 0
	names=$(cat "$renamed" 2>/dev/null || :)
	case $newline$names$newline in
	*"$newline${master##*/}$newline"*) ;;
	*) put "$renamed" 600 printf '%s\n' ${names:+"$names"} "${master##*/}" ;;
	esac
	mv -f "$master" "$master.old"
	log "renamed $master to $master.old"
}

### The way through it

check() {
	for directory in "$cni_bin_dir" "$cni_conf_dir" "$multus_autoconfig_dir"; do
		[ -d "$directory" ] || die "there is no directory $directory: mount the node's, or see --cni-bin-dir, --cni-conf-dir, --multus-autoconfig-dir"
	done
	[ "$uninstall" = false ] || return 0
	[ -x "$multus" ] || [ "$skip_multus_binary_copy" = true ] || die "there is no binary $multus; see --multus-bin-file"
	[ -x "$multus" ] || multus=$cni_bin_dir/multus
	[ -x "$multus" ] || die "there is no binary $multus, and --skip-multus-binary-copy is set"
	text=$("$multus" --version 2>&1) || die "$multus does not run; is the image for another architecture? $text"
	text=$(generate_kubeconfig) || die "$text; is the service account mounted at $account?"
	code=0
	text=$(generate_config) || code=$?
	[ "$code" = 0 ] || [ "$code" = 3 ] || die "$text" # 3: no master yet
	case $kubeconfig in *"$multus_kubeconfig_file_host") ;; *)
		log "warning: $kubeconfig is written, but the node will read $multus_kubeconfig_file_host; see --multus-kubeconfig-file-host"
		;;
	esac
}

# state changes with all that matters to what is installed (ENT-7).
state() {
	set -- "$kubeconfig" "$renamed"
	for file in "$account/token" "$account/ca.crt" "$multus_conf_file" "$own" "$cni_conf_dir"/00-multus.conf* \
		"$multus_autoconfig_dir"/*.conf "$multus_autoconfig_dir"/*.conflist "$multus_autoconfig_dir"/*.old "$multus_autoconfig_dir"/*/*.conf; do
		[ ! -f "$file" ] || set -- "$@" "$file"
	done
	sha256sum "$@" 2>/dev/null || :
}

# pause waits in a way that a signal interrupts (ENT-8).
pause() {
	sleep "$1" &
	sleeper=$!
	wait "$sleeper" || [ $? -gt 128 ] || die "cannot sleep"
}

follow() {
	seen='' ticks=0 why=''
	until [ -n "$installed" ] && [ "$skip_config_watch" = true ]; do
		now=$(state)
		if [ "$now" != "$seen" ]; then
			sweep
			install_kubeconfig
			install_configuration
			seen=$now ticks=0
		fi
		[ -n "$installed" ] || [ "$((ticks % 5))" != 0 ] || log "waiting: $why"
		ticks=$((ticks + 1))
		pause 1
	done
	while :; do pause 3600; done
}

# take_away removes all that was written but the binary. The master comes back first: no moment without a network.
take_away() {
	while IFS= read -r name; do
		[ -e "$multus_autoconfig_dir/$name" ] || mv "$multus_autoconfig_dir/$name.old" "$multus_autoconfig_dir/$name" || :
	done 2>/dev/null <"$renamed" || :
	[ "$multus_conf_file" = auto ] || [ "$(readlink -f "$own")" = "$(readlink -f "$multus_conf_file")" ] || rm -f "$own"
	rm -f "$cni_conf_dir/00-multus.conf" "$cni_conf_dir/00-multus.conflist" "$kubeconfig" "$renamed"
	rmdir "$cni_conf_dir/multus.d" 2>/dev/null || :
	log "removed the configuration from $cni_conf_dir"
}

stop() {
	trap '' TERM INT HUP
	[ "$cleanup_config_on_exit" = false ] || take_away
	log "stopped"
	exit 0
}

trap 'rm -f ${temp:+"$temp"}; kill ${sleeper:+"$sleeper"} 2>/dev/null || :' EXIT
trap stop TERM INT HUP

read_options "$@"
check
if [ "$uninstall" = true ]; then
	take_away
	rm -f "$cni_bin_dir/multus"
	log "removed $cni_bin_dir/multus"
	exit 0
fi
log "what multus does for pods is logged at level ${multus_log_level:-panic} to ${multus_log_file:-no file} (on the node) and the runtime's log: $multus_log_to_stderr"
install_binary
mkdir -p "$cni_conf_dir/multus.d" || die "cannot make $cni_conf_dir/multus.d; is the directory of the node writable?"
follow
