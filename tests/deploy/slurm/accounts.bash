# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Accounts and their limits for the Slurm of cluster.bash: the distribution's
# slurmdbd over a MariaDB, both of this cluster alone, for whoever calls it.
#
#   accounts_missing                                # which programs are not here
#   accounts_use                                    # before cluster_up
#   accounts_limit MaxSubmitJobs=3                  # of each user, by the QOS normal

accounts_missing() {
  local tool
  for tool in slurmdbd sacctmgr mariadbd mariadb-install-db mariadb; do
    command -v "$tool" >/dev/null || echo "$tool"
  done
}

# Sets CLUSTER_ACCOUNTS, the lines of slurm.conf.
accounts_use() {
  read -r ACCOUNTS_PORT ACCOUNTS_SQL_PORT <<<"$(cluster_free_ports 2)"
  CLUSTER_ACCOUNTS="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$ACCOUNTS_PORT
AccountingStoragePass=$CLUSTER/run/munge.sock
AccountingStorageEnforce=associations,limits,qos"
}

accounts_write_conf() {
  (umask 077 && cat >"$CLUSTER/etc/slurmdbd.conf" <<END
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$ACCOUNTS_PORT
SlurmUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$CLUSTER/run/munge.sock
PidFile=$CLUSTER/run/slurmdbd.own.pid
LogFile=$CLUSTER/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$ACCOUNTS_SQL_PORT
StorageUser=slurm
StoragePass=slurm
END
  )
}

accounts_sql() { mariadb --no-defaults --socket="$CLUSTER/run/sql.sock" -e "$1"; }

# Called by cluster_up once there is a munged.
accounts_start() {
  accounts_write_conf
  mariadb-install-db --no-defaults --user="$(id -un)" --skip-test-db \
    --auth-root-authentication-method=normal --datadir="$CLUSTER/sql" \
    >"$CLUSTER/log/install-db.out" 2>&1 || return 1
  cluster_start mariadbd mariadbd --no-defaults --user="$(id -un)" \
    --datadir="$CLUSTER/sql" --socket="$CLUSTER/run/sql.sock" \
    --pid-file="$CLUSTER/run/sql.own.pid" --bind-address=127.0.0.1 \
    --port="$ACCOUNTS_SQL_PORT" --innodb-flush-log-at-trx-commit=0
  wait_for 60 accounts_sql "SELECT 1" || return 1
  accounts_sql "CREATE USER slurm@'%' IDENTIFIED BY 'slurm';
    CREATE USER slurm@localhost IDENTIFIED BY 'slurm';
    GRANT ALL ON *.* TO slurm@'%'; GRANT ALL ON *.* TO slurm@localhost"
  cluster_start slurmdbd slurmdbd -D
  wait_for 60 sacctmgr --noheader show cluster || return 1
  sacctmgr --immediate add cluster "${CLUSTER_NAME:-frosty}" &&
    sacctmgr --immediate add account lab &&
    sacctmgr --immediate add user "$(id -un)" account=lab
}

# accounts_limit NAME=VALUE: of each user, whatever the partition.
accounts_limit() {
  sacctmgr --immediate modify user "$(id -un)" set "$1"
}
