#!/usr/bin/env bash
# Runs the test suites, installs what they need, and prints one line for each at the end.
set -euo pipefail
cd "$(dirname "$0")"

suites=(lint unit build exec netns install cluster)
extra=(fuzz) # only by name

staticcheck_package=honnef.co/go/tools/cmd/staticcheck@v0.8.2
govulncheck_package=golang.org/x/vuln/cmd/govulncheck@v1.9.0
shfmt_package=mvdan.cc/sh/v3/cmd/shfmt@v3.14.1

cache=${XDG_CACHE_HOME:-$HOME/.cache}/multus-test
work=$(mktemp -d)
running=

usage() {
	cat <<EOF
usage: ./test.sh [--list | --help | SUITE…]

Runs the suites ${suites[*]}, or those named; also: ${extra[*]}.
As root it installs the Debian packages that they need. Go comes from you. Downloads and
reference plugins are kept in $cache.

FUZZTIME  how long "fuzz" runs each target, default 10s
EOF
}

### The suites. Each runs in a process of its own; add notes its cases.

suite_lint() {
	debian shellcheck
	local shfmt scripts
	shfmt=$(tool "$shfmt_package")
	mapfile -t scripts < <("$shfmt" -f .)
	check gofmt formatted
	check 'go vet' go vet ./...
	check staticcheck "$(tool "$staticcheck_package")" ./...
	check 'go vet test/cluster' go -C test/cluster vet ./...
	check 'staticcheck test/cluster' env -C test/cluster "$(tool "$staticcheck_package")" ./...
	check shfmt "$shfmt" -d "${scripts[@]}"
	check shellcheck shellcheck "${scripts[@]}"
	check govulncheck vulnerabilities
	go_test -count=1 ./test/lint/... # what it reads, the test cache does not see
}

suite_unit() {
	debian gcc libc6-dev # for the race detector
	go_test -race ./cmd/... ./pkg/... ./examples/... ./test/fake/... ./test/tools/...
}

# E160, IMG-3: the same bytes each time, for every platform.
suite_build() {
	debian binutils # readelf
	check 'build twice' built_twice
	check 'build for every platform' built_for_all
}

suite_exec() {
	[ "$(id -u)" = 0 ] || die 'network namespaces need root: run ./test.sh as root'
	debian iproute2 strace
	build_multus
	go_test -count=1 -timeout=20m ./test/exec/...
}

suite_netns() {
	[ "$(id -u)" = 0 ] || die 'network namespaces need root: run ./test.sh as root'
	debian dnsmasq-base iproute2 iptables nftables podman
	build_multus
	MULTUS_TEST_PLUGINS=$(reference_plugins)
	export MULTUS_TEST_PLUGINS
	go_test -count=1 -timeout=20m ./test/netns/...
}

suite_install() {
	[ "$(id -u)" = 0 ] || die 'PID 1 and mounts need root: run ./test.sh as root'
	debian buildah busybox-static dash strace
	build_multus
	go_test -count=1 -timeout=20m ./test/install/...
}

suite_cluster() {
	[ "$(id -u)" = 0 ] || die 'a node needs root: run ./test.sh as root'
	debian iproute2 iptables libseccomp2 util-linux
	build_multus
	MULTUS_TEST_PLUGINS=$(reference_plugins)
	export MULTUS_TEST_PLUGINS
	go_test_in test/cluster -count=1 -timeout=60m . -ginkgo.timeout=55m
	export MULTUS_TEST_CONTAINERD=1
	go_test_in test/cluster -count=1 -timeout=20m . -ginkgo.timeout=15m -ginkgo.label-filter=runtime
}

suite_fuzz() {
	local package target
	while read -r package target; do
		echo "fuzz $package $target"
		check "$target" go test -run='^$' -fuzz="^$target\$" -fuzztime="${FUZZTIME:-10s}" "$package"
	done < <(fuzz_targets)
}

### What they are made of.

die() {
	echo "$*" >&2
	exit 1
}

# add CASES FAILED
add() {
	echo "$1 $2" >>"$work/cases"
}

# check NAME COMMAND… is one case.
check() {
	local name=$1 failed=0
	shift
	"$@" || failed=1
	[ "$failed" = 0 ] || echo "FAIL $name" >&2
	add 1 "$failed"
}

# go_test ARGUMENT… is "go test" with its cases counted.
go_test() {
	go build -o "$work/tally" ./test/tools/tally
	"$work/tally" "$work/cases" "$@"
}

# go_test_in DIRECTORY ARGUMENT… is go_test for a module of its own.
go_test_in() {
	local dir=$1
	shift
	go build -o "$work/tally" ./test/tools/tally
	(cd "$dir" && "$work/tally" "$work/cases" "$@")
}

# debian PACKAGE… installs those that are missing.
debian() {
	local package missing=()
	for package; do
		dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
	done
	[ "${#missing[@]}" -gt 0 ] || return 0
	[ "$(id -u)" = 0 ] || die "missing; as root: apt-get install ${missing[*]}"
	apt-get -qq update
	DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}" >/dev/null
}

# tool PACKAGE@VERSION prints the path of that program, installed once.
tool() {
	local dir=$cache/${1##*/}
	install_once "$dir" go install "$1"
	echo "$dir/$(basename "${1%@*}")"
}

# reference_plugins prints a directory with the plugins and cnitool of test/plugins/go.mod.
reference_plugins() {
	local version dir
	version=$(go -C test/plugins list -m -f '{{.Version}}' github.com/containernetworking/plugins)
	dir=$cache/plugins@$version-$(sha256sum test/plugins/go.mod | head -c 12)
	install_once "$dir" go -C test/plugins install tool
	echo "$dir"
}

# install_once DIRECTORY COMMAND… leaves a whole directory or none.
install_once() {
	local dir=$1 new=$cache/.new.$$
	shift
	[ ! -d "$dir" ] || return 0
	mkdir -p "$cache"
	GOBIN=$new CGO_ENABLED=0 "$@" >&2 || die "cannot install ${dir##*/}"
	mv -T "$new" "$dir"
}

build_multus() {
	./build
	export MULTUS_TEST_BINARY=$PWD/bin/multus
}

built_twice() {
	./build && cp bin/multus "$work/first" && ./build && cmp "$work/first" bin/multus && bin/multus --version
}

# built_for_all asks each file for which machine it is.
built_for_all() {
	./build --all || return 1
	local platform
	for platform in amd64:X86-64 arm64:AArch64 arm:ARM ppc64le:PowerPC64 s390x:S/390 riscv64:RISC-V; do
		LC_ALL=C readelf -h "bin/linux-${platform%%:*}/multus" | grep "Machine:.*${platform##*:}" >/dev/null || return 1
	done
}

formatted() {
	local wrong
	wrong=$(gofmt -l .)
	[ -z "$wrong" ] || {
		echo "not as gofmt writes it: $wrong"
		return 1
	}
}

# vulnerabilities tells a finding (3) from data that cannot be had.
vulnerabilities() {
	local code=0
	"$(tool "$govulncheck_package")" ./... >"$work/govulncheck" 2>&1 || code=$?
	if [ "$code" = 1 ] && grep -q 'fetching vulnerabilities' "$work/govulncheck"; then
		echo "govulncheck: not done, its data cannot be had: $(tail -n 1 "$work/govulncheck")"
		return 0
	fi
	[ "$code" = 0 ] || cat "$work/govulncheck"
	return "$code"
}

# fuzz_targets prints "package target" lines.
fuzz_targets() {
	go test -list='^Fuzz' ./pkg/... | awk '/^Fuzz/ { names[++n] = $1 }
		$1 == "ok" { for (i = 1; i <= n; i++) print $2, names[i]; n = 0 }'
}

### Running them.

# run SUITE prints its summary line; what the suite prints goes to stderr. Where it gives up, or runs no case at all,
# that is a failed case.
run() {
	local code=0 before=$SECONDS
	: >"$work/cases"
	echo "=== $1" >&2
	set -m # a process group, so that an interrupt can reach all of it
	(
		trap 'exit 130' INT # once the tests have cleaned up, start no more of them
		"suite_$1" >&2
	) &
	running=$!
	set +m
	wait "$running" || code=$?
	running=
	[ "$code" = 0 ] || add 1 1
	awk -v name="$1" -v seconds="$((SECONDS - before))" '{ cases += $1; failed += $2 }
		END { if (!cases) cases = failed = 1
		      printf "%-8s %5d cases %5d failed %5d s\n", name, cases, failed, seconds }' "$work/cases"
}

# interrupted ends what runs, waits until it has cleaned up, and leaves.
interrupted() {
	if [ -n "$running" ]; then
		kill -INT -- "-$running" 2>/dev/null || true
		wait "$running" || true
	fi
	exit 130
}

# selected SUITE… fails where one does not exist.
selected() {
	local suite
	for suite; do
		[[ " ${suites[*]} ${extra[*]} " == *" $suite "* ]] || die "no suite $suite; ./test.sh --list names them"
	done
}

main() {
	case ${1-} in
	--list)
		printf '%s\n' "${suites[@]}" "${extra[@]}"
		return
		;;
	--help | -h)
		usage
		return
		;;
	esac
	command -v go >/dev/null || die "no go in PATH: install Go $(awk '$1 == "go" { print $2 }' go.mod) or newer, https://go.dev/dl"
	selected "$@"
	[ $# -gt 0 ] || set -- "${suites[@]}"
	local suite
	for suite; do
		run "$suite" >>"$work/summary"
	done
	awk '{ print; failed += $4 } END { exit failed > 0 }' "$work/summary"
}

trap 'rm -rf "$work" "$cache/.new.$$"' EXIT
trap interrupted INT TERM HUP
main "$@"
