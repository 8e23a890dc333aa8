package state

import (
	"errors"
	"os"
	"path/filepath"
)

// draftOf is the temporary file of a plan: always the same one, so that what a killed ADD has left is cleared away by
// the next one or by DEL. The lock keeps two ADDs of a sandbox from meeting in it.
func draftOf(file string) string {
	return filepath.Join(filepath.Dir(file), "."+filepath.Base(file))
}

// replaceFile puts text on the disk as file, as a whole or not at all (ADD-3).
func replaceFile(file string, text []byte) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	draft := draftOf(file)
	err := writeToDisk(draft, text)
	if err == nil {
		err = os.Rename(draft, file)
	}
	if err != nil {
		_ = os.Remove(draft) // it need not be there
		return err
	}
	return syncDir(dir)
}

func writeToDisk(file string, text []byte) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
