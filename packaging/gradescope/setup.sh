#!/bin/sh
# setup.sh - Gradescope runs this once, as root, when it builds the autograder's image: it installs
# what grading needs besides the bundle, and nothing that wants a GPU.
#
# The CUDA packages come from NVIDIA's own repository for this distribution, in exactly these
# versions: another compiler counts other registers, and a class is graded with one.
set -eu

cuda=13-0
packages="cuda-nvcc-$cuda=13.0.88-1 cuda-crt-$cuda=13.0.88-1 libnvvm-$cuda=13.0.88-1"
packages="$packages cuda-cudart-dev-$cuda=13.0.96-1"

root=${AUTOGRADER_ROOT:-/autograder}
release=${OS_RELEASE:-/etc/os-release}

apt() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 "$@"
}

# shellcheck disable=SC1090 # the system's own
. "$release"
case "$ID$VERSION_ID" in
ubuntu22.04 | ubuntu24.04) distribution=ubuntu$(echo "$VERSION_ID" | tr -d .) ;;
debian12) distribution=debian12 ;;
*)
    echo "setup.sh: this image is $ID $VERSION_ID; choose Ubuntu 22.04 or newer as the base image" >&2
    exit 1
    ;;
esac

apt update
apt install -y --no-install-recommends ca-certificates wget g++ bubblewrap
keyring=$(mktemp)
wget -q -O "$keyring" \
    "https://developer.download.nvidia.com/compute/cuda/repos/$distribution/x86_64/cuda-keyring_1.1-1_all.deb"
dpkg -i "$keyring"
rm -f "$keyring"
apt update
# shellcheck disable=SC2086 # words on purpose
apt install -y --no-install-recommends $packages
rm -rf /var/lib/apt/lists/*

chmod 755 "$root/source/run_autograder" "$root/source/spillway/bin/spillway"
CUDA_HOME=${CUDA_HOME:-/usr/local/cuda-$(echo $cuda | tr - .)} "$root/source/spillway/bin/spillway" doctor
