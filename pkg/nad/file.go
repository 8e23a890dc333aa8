package nad

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoConfig is the error of a lookup that finds no configuration of that name.
var ErrNoConfig = errors.New("no CNI configuration")

// GetCNIConfig gives the CNI configuration of a NAD: spec.config if that is not blank, else the file in confDir that has
// the NAD's name (de-facto standard v1.3, section 3.3). The error is ErrNoConfig if there is neither.
func GetCNIConfig(def *Definition, confDir string) ([]byte, error) {
	if def == nil {
		return nil, errors.New("no definition")
	}
	if strings.TrimSpace(def.Spec.Config) != "" {
		return GetCNIConfigFromSpec(def.Spec.Config, def.Metadata.Name)
	}
	raw, err := GetCNIConfigFromFile(def.Metadata.Name, confDir)
	if err != nil {
		return nil, fmt.Errorf("spec.config is blank, and: %w", err)
	}
	return raw, nil
}

// GetCNIConfigFromSpec gives a spec.config byte for byte, with name as the network's name if it has none (NET-11). It
// says where the text is not a JSON object, and does not look at other keys than "name".
func GetCNIConfigFromSpec(spec, name string) ([]byte, error) {
	raw, err := named(spec, name)
	if err != nil {
		return nil, fmt.Errorf("spec.config: %w", err)
	}
	return raw, nil
}

func named(spec, name string) ([]byte, error) {
	if strings.TrimSpace(spec) == "" {
		return nil, errEmpty
	}
	source := newSource(spec)
	if err := source.checkSyntax("object"); err != nil {
		return nil, err
	}
	if k := kind(json.RawMessage(spec)); k != "an object" {
		return nil, fmt.Errorf("must be an object, is %s", k)
	}
	brace := strings.IndexByte(spec, '{')
	keys, err := members(value{json.RawMessage(spec[brace:]), brace})
	if err != nil {
		return nil, err
	}
	given, ok := lastOf(keys, "name")
	if !ok {
		return addName(spec, brace+1, name, len(keys) > 0)
	}
	switch k := kind(given.RawMessage); {
	case k == "null", string(given.RawMessage) == `""`:
		return fill(spec[:given.at], name, spec[given.at+len(given.RawMessage):])
	case k != "a string":
		return nil, fmt.Errorf("name: must be a string, is %s at %s", k, source.position(given.at))
	default:
		return []byte(spec), nil
	}
}

// addName makes the name the first key of the object that begins before the byte at.
func addName(spec string, at int, name string, othersFollow bool) ([]byte, error) {
	after := spec[at:]
	if othersFollow {
		after = "," + after
	}
	return fill(spec[:at]+`"name":`, name, after)
}

// fill puts a name, as a JSON string, between two pieces of a configuration.
func fill(before, name, after string) ([]byte, error) {
	if name == "" {
		return nil, errors.New("name: missing")
	}
	quoted, err := json.Marshal(name)
	if err != nil {
		return nil, fmt.Errorf("name: %w", err)
	}
	return []byte(before + string(quoted) + after), nil
}

// GetCNIConfigFromFile gives the content of the file in confDir whose configuration has this name, as NamedConfig finds
// it. Other files that cannot be read are passed over.
func GetCNIConfigFromFile(name, confDir string) ([]byte, error) {
	raw, _, _, err := NamedConfig(confDir, name)
	return raw, err
}

// NamedConfig looks for the file in dir whose JSON "name" is name, among *.conflist first, then *.conf and *.json, each
// in lexical order (CONF-6). It gives the content as it is, and the file's path. Files that cannot be read, or are no
// JSON objects, are passed over; warnings tell which and why, also where there is an error. The error is
// ErrNoConfig if no file has the name, also where there is no such directory.
func NamedConfig(dir, name string) (raw []byte, path string, warnings []string, err error) {
	if name == "" {
		return nil, "", nil, errors.New("name: missing")
	}
	paths, err := configFiles(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil, fmt.Errorf("%w named %q: there is no directory %s", ErrNoConfig, name, dir)
	}
	if err != nil {
		return nil, "", nil, err
	}
	for _, path := range paths {
		raw, found, err := readNamed(path)
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s: passed over: %v", path, err))
		} else if found == name {
			return raw, path, warnings, nil
		}
	}
	return nil, "", warnings, fmt.Errorf("%w named %q in %s", ErrNoConfig, name, dir)
}

// configFiles lists the files of a directory that can hold a CNI configuration, lists first.
func configFiles(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var lists, others []string
	for _, entry := range entries {
		switch path := filepath.Join(dir, entry.Name()); filepath.Ext(path) {
		case ".conflist":
			lists = append(lists, path)
		case ".conf", ".json":
			others = append(others, path)
		}
	}
	return append(lists, others...), nil
}

// readNamed reads a configuration and its name. It does not open what is no file: a FIFO would block.
func readNamed(path string) (raw []byte, name string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, "", err
	}
	if !info.Mode().IsRegular() {
		return nil, "", errors.New("not a regular file")
	}
	if raw, err = os.ReadFile(path); err != nil {
		return nil, "", err
	}
	var config struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, "", newSource(string(raw)).located(err)
	}
	return raw, config.Name, nil
}
