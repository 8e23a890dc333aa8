package parts

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// debian unpacks Debian's packages without installing them: an installed containerd or etcd would be started as a
// service.
func (b Builder) debian(ctx context.Context) (string, error) {
	release, err := run(ctx, "sh", "-c", `. /etc/os-release && echo "$ID-$VERSION_ID"`)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(b.Cache, "packages@"+release)
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return dir, err
	}
	fmt.Fprintln(b.Log, "fetching etcd-server, runc and containerd of", release)
	if err := os.MkdirAll(b.Cache, 0o755); err != nil {
		return "", err
	}
	part, err := os.MkdirTemp(b.Cache, ".new.")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(part)
	if err := unpack(ctx, part); err != nil {
		return "", err
	}
	return dir, os.Rename(filepath.Join(part, "root"), dir)
}

// unpack downloads into the directory, with fresh package lists if it does not work without.
func unpack(ctx context.Context, dir string) error {
	const download = `apt-get -qq -o APT::Sandbox::User=root download etcd-server runc containerd`
	_, err := run(ctx, "sh", "-ec", `cd "$0"
		`+download+` 2>/dev/null || { apt-get -qq update; `+download+`; }
		mkdir root
		for package in *.deb; do dpkg -x "$package" root; done`, dir)
	return err
}
