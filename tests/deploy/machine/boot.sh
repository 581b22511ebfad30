# SPDX-License-Identifier: Apache-2.0
# boot.sh ROOT: becomes the systemd of ROOT. Called in new namespaces of mounts,
# processes and networks (world.bash), so all of it goes with the process.
set -e
mount --make-rprivate /
mount --bind "$1" "$1"
cd "$1"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys 2>/dev/null || true
mount -t tmpfs -o mode=755 tmpfs sys/fs/cgroup
if [ -e /sys/fs/cgroup/cgroup.controllers ]; then
  mount -t cgroup2 cgroup2 sys/fs/cgroup
else
  mkdir sys/fs/cgroup/systemd sys/fs/cgroup/unified
  mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
  mount -t cgroup2 cgroup2 sys/fs/cgroup/unified
fi
mount -t tmpfs -o mode=755 tmpfs dev
for NODE in null zero full random urandom tty; do
  touch "dev/$NODE"
  mount --bind "/dev/$NODE" "dev/$NODE"
done
mkdir dev/shm dev/pts
mount -t tmpfs tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s /proc/self/fd dev/fd
ln -s pts/ptmx dev/ptmx
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
ip link set lo up 2>/dev/null || true
# Not chroot: from below one no service can have a namespace of users.
mkdir -p mnt
pivot_root . mnt
cd /
umount -l mnt
exec env -i container=test PATH=/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --log-target=console --show-status=no
