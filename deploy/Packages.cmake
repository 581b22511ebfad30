# SPDX-License-Identifier: Apache-2.0
# CPack's table of the three Debian packages.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME frostline)
set(CPACK_PACKAGE_CONTACT
    "Frostline maintainers <maintainers@frostline.example.org>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_STRIP_FILES ON)
# /etc is beside /usr, not below it.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL coordinator worker cli)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# What a description says first is the synopsis.
function(frostline_package COMPONENT SYNOPSIS TEXT)
  string(TOUPPER ${COMPONENT} KEY)
  set(CPACK_DEBIAN_${KEY}_PACKAGE_NAME frostline-${COMPONENT} PARENT_SCOPE)
  set(CPACK_DEBIAN_${KEY}_DESCRIPTION "${SYNOPSIS}\n${TEXT}" PARENT_SCOPE)
  file(GLOB SCRIPTS CONFIGURE_DEPENDS
    ${CMAKE_CURRENT_SOURCE_DIR}/debian/${COMPONENT}/post*
    ${CMAKE_CURRENT_SOURCE_DIR}/debian/${COMPONENT}/pre*
    ${CMAKE_CURRENT_SOURCE_DIR}/debian/${COMPONENT}/conffiles)
  set(CPACK_DEBIAN_${KEY}_PACKAGE_CONTROL_EXTRA "${SCRIPTS}" PARENT_SCOPE)
endfunction()

set(ABOUT "Frostline searches which layers of a pretrained model to train, and how
fast. Studies are kept by a coordinator, which leases trials to workers.")
frostline_package(coordinator "search for layer freezing: the coordinator"
"${ABOUT}
.
This package has the coordinator, a hardened systemd service. It listens on
loopback alone until it is given certificates.")
frostline_package(worker "search for layer freezing: the agent of a node"
"${ABOUT}
.
This package has the agent that holds leases and runs trainers, as a systemd
service for each worker, and a trainer of toy problems. The trainer of language
models is linked against a LibTorch of the site's own and is in no package.")
frostline_package(cli "search for layer freezing: the command line"
"${ABOUT}
.
This package has the command line: studies, trials, importance, plans.")
set(SERVICE "systemd | systemd-standalone-sysusers, init-system-helpers (>= 1.54)")
set(CPACK_DEBIAN_COORDINATOR_PACKAGE_DEPENDS "${SERVICE}")
# It posts to webhooks (docs/adr/0029-notifications.md).
set(CPACK_DEBIAN_COORDINATOR_PACKAGE_RECOMMENDS "curl, ca-certificates")
# For --store.
set(CPACK_DEBIAN_COORDINATOR_PACKAGE_SUGGESTS "libpq5")
set(CPACK_DEBIAN_WORKER_PACKAGE_DEPENDS "${SERVICE}")
# For --command.
set(CPACK_DEBIAN_WORKER_PACKAGE_RECOMMENDS "python3 (>= 3.10)")
set(CPACK_DEBIAN_CLI_PACKAGE_SUGGESTS "frostline-coordinator, frostline-worker")
include(CPack)
