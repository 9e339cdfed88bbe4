# What .ci/peers and .ci/pacer share; sourced, not run. A measurement happens in a network namespace of its own that ends with the script, with
# the sender on CPU 0 and everything else on CPU 1, and what others take from the sender meanwhile is part of its result.
#
# shellcheck shell=bash
export LC_ALL=C # EPOCHREALTIME with a point

foreign_mac=02:00:00:00:00:fe
own_mac=02:00:00:00:00:01
us_per_s=1000000
median_of='function median(a, n,  i, j, t) { for (i = 2; i <= n; i++) for (j = i; j > 1 && a[j] < a[j-1]; j--) { t = a[j]; a[j] = a[j-1]; a[j-1] = t }
	return n % 2 ? a[(n+1)/2] : (a[n/2] + a[n/2+1]) / 2 }'

say() { echo "$*" >&2; }
die() { say "${0##*/}: $*"; exit 1; }

# enter PACKAGES -- ARGUMENTS builds the programs and starts the script again in namespaces of its own; it returns there.
enter() {
	[[ -z ${BENCH_WORK-} ]] || { inside; return; }
	local p missing=()
	while [[ $1 != -- ]]; do
		dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed || missing+=("$1")
		shift
	done
	shift
	((EUID == 0)) || die "needs root: it makes network namespaces and sends"
	(($(nproc --all) >= 2)) || die "needs two CPUs: one for the sender, one for what looks at it"
	if ((${#missing[@]})); then
		say "installing ${missing[*]}"
		export DEBIAN_FRONTEND=noninteractive
		{ apt-get -q -o Acquire::Retries=3 update && apt-get -q install -y --no-install-recommends "${missing[@]}"; } >&2 ||
			die "cannot install ${missing[*]}"
	fi
	BENCH_WORK=$(mktemp -d -p /tmp) || exit 1
	export BENCH_WORK
	CGO_ENABLED=0 go build -o "$BENCH_WORK/wirespeed" . && gcc -O2 -o "$BENCH_WORK/pacer" .ci/pacer.c || { rm -rf "$BENCH_WORK"; exit 1; }
	exec unshare --net --mount --propagation private "$BASH" ".ci/${0##*/}" "$@"
}

# inside finishes the namespaces: the script on CPU 1, /sys of this namespace, no IPv6 (it sends frames of its own).
inside() {
	wirespeed=$BENCH_WORK/wirespeed
	pacer=$BENCH_WORK/pacer
	trap 'stop; rm -rf "$BENCH_WORK"' EXIT
	trap 'exit 130' INT TERM HUP
	taskset -cp 1 $$ >/dev/null
	mount -t sysfs sys /sys || die "cannot mount /sys"
	sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1 2>/dev/null || true # a kernel without IPv6
}

# veth makes v0 and v1, up, without addresses; ifb NAME QUEUES an ifb.
veth() {
	ip link add v0 address $own_mac type veth peer name v1
	ip link set v1 up
	ip link set v0 up
	until [[ $(</sys/class/net/v0/operstate) == up ]]; do sleep 0.05; done
}

ifb() {
	ip link add "$1" address $own_mac numtxqueues "$2" type ifb || return
	ip link set "$1" up
}

# counter DEV: the file in which the kernel counts what the driver of DEV was given. Frames sent on an ifb die there as received ones.
counter() {
	case $1 in
	v*) echo "/sys/class/net/$1/statistics/tx_packets" ;;
	*) echo "/sys/class/net/$1/statistics/rx_packets" ;;
	esac
}

# begin COMMAND... starts a sender in the background, on $on_cpus (default 0); stop ends it and all its children.
sender=
begin() {
	setsid taskset -c "${on_cpus-0}" "$@" >"$BENCH_WORK/out" 2>"$BENCH_WORK/err" </dev/null &
	sender=$!
}

stop() {
	[[ $sender ]] || return 0
	local i
	kill -INT -- -"$sender" 2>/dev/null  # the group: trafgen leaves a spinning child otherwise
	kill -TERM "$sender" 2>/dev/null     # wirespeed's outer process leaves INT to the terminal
	for i in {1..60}; do
		kill -0 -- -"$sender" 2>/dev/null || break
		sleep 0.05
	done
	kill -KILL -- -"$sender" 2>/dev/null
	{ wait "$sender"; } 2>/dev/null # without the shell's word on how it ended
	sender=
}

# prefer gives the sender a nice value: of its session, where the kernel shares CPUs by session (sched(7), autogroup), and of its threads.
prefer() {
	echo "$priority" 2>/dev/null >/proc/"$sender"/autogroup || true
	local f
	for f in $(threads); do
		f=${f%/schedstat}
		renice -n "$priority" -p "${f##*/}" >/dev/null 2>&1
	done
}

# threads lists the schedstat files of the sender and all below it.
threads() {
	local todo=("$sender") pid
	while ((${#todo[@]})); do
		pid=${todo[0]}
		todo=("${todo[@]:1}" $(pgrep -P "$pid"))
		echo /proc/"$pid"/task/*/schedstat
	done
}

# ticks: "steal-of-CPU-0 busy-of-all-others" in ticks of 10 ms.
ticks() {
	local name user nice system idle iowait irq softirq steal rest busy=0 stolen=0
	while read -r name user nice system idle iowait irq softirq steal rest; do
		case $name in
		cpu0) stolen=$steal ;;
		cpu[1-9]*) busy=$((busy + user + nice + system + irq + softirq + steal)) ;;
		esac
	done </proc/stat
	echo "$stolen $busy"
}

# sched FILES...: what happened since the last call, in us. waited: how long the sending threads (those that ran at least half as long as the
# busiest) were ready and did not run, without what the other threads of the same program, own, ran.
declare -A was_run was_delay
sched() {
	local f run delay rest most=0 ran=() late=() i
	own=0 waited=0
	for f; do
		{ read -r run delay rest <"$f"; } 2>/dev/null || continue
		ran+=($(((run - ${was_run[$f]:-0}) / 1000))) late+=($(((delay - ${was_delay[$f]:-0}) / 1000)))
		was_run[$f]=$run was_delay[$f]=$delay
		((ran[-1] <= most)) || most=${ran[-1]}
	done
	for i in "${!ran[@]}"; do
		if ((2 * ran[i] >= most)); then waited=$((waited + late[i])); else own=$((own + ran[i])); fi
	done
	ran_most=$most
	waited=$((waited > own ? waited - own : 0))
}

# measure DEV SECONDS: the rate of DEV over a steady second of the sender that runs. It sets
#   pps         frames per second, counted by the kernel
#   own         percent of a CPU that the sender's other threads used
#   foreign     percent of the time that others took from the sending thread: it was ready and did not run (schedstat), but for what its own
#               program ran meanwhile, or the hypervisor ran something else (steal)
#   elsewhere   percent of a CPU that others used on the other CPUs
measure() {
	local file first last t0 t1 t2 t3 i files before after time late
	file=$(counter "$1")
	read -r first <"$file"
	for ((i = 0; ; i++)); do
		read -r last <"$file"
		((last - first > 2000)) && break
		((i < 100)) && kill -0 "$sender" 2>/dev/null || { cat "$BENCH_WORK/err" >&2; die "no frames on $1"; }
		sleep 0.05
	done
	((${priority-0} == 0)) || prefer
	sleep 0.3
	files=$(threads)
	read -ra before <<<"$(ticks)"
	sched $files
	t0=${EPOCHREALTIME/./}
	read -r first <"$file"
	t1=${EPOCHREALTIME/./}
	sleep "$2"
	t2=${EPOCHREALTIME/./}
	read -r last <"$file"
	t3=${EPOCHREALTIME/./}
	sched $files
	read -ra after <<<"$(ticks)"
	time=$(((t2 + t3 - t0 - t1) / 2))
	late=$(awk -v s="$2" -v t=$time 'BEGIN { l = t - s * 1e6; print (l > t / 20 ? l : 0) }') # a machine that stood still altogether
	pps=$(((last - first) * us_per_s / time))
	foreign=$(awk -v d="$waited" -v s=$((after[0] - before[0])) -v l="$late" -v t=$time 'BEGIN { printf "%.2f", 100 * (d + 1e4 * s + l) / t }')
	own=$(awk -v o="$own" -v t=$time 'BEGIN { printf "%.2f", 100 * o / t }')
	elsewhere=$(awk -v b=$((after[1] - before[1])) -v t=$time 'BEGIN { printf "%.1f", 100 * 1e4 * b / t }')
}

# disturbed: whether the last measurement is to be made again.
disturbed() { awk -v f="$foreign" -v e="$elsewhere" -v lf="$max_foreign" -v le="$max_elsewhere" 'BEGIN { exit !(f > lf || e > le) }'; }

# summary KEY FILE: a number, or null, of the last JSON summary in FILE, without jq.
summary() { grep '"type":"summary"' "$2" | tail -n 1 | grep -o "\"$1\":[^,}]*" | head -n 1 | cut -d: -f2; }

machine() { echo "$(nproc --all) x $(cpu_model), Linux $(uname -r), $(go env GOVERSION)"; }

cpu_model() { sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1; }
