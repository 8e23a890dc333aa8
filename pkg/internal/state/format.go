package state

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// formatVersion is the version of the plan's format that we write, and the only one so far.
const formatVersion = 1

// document is a plan as it is saved.
type document struct {
	Version int `json:"version"`
	plan.Plan
}

// encodePlan puts the configurations and capability arguments of a plan into it byte by byte: an encoder would
// compact them, and go through a megabyte twice.
func encodePlan(p *plan.Plan) ([]byte, error) {
	bare := document{Version: formatVersion, Plan: *p}
	bare.Attachments = nil
	object, err := toObject(bare)
	if err != nil {
		return nil, err
	}
	list := []byte{'['}
	for i, attachment := range p.Attachments {
		text, err := encodeAttachment(attachment)
		if err != nil {
			return nil, fmt.Errorf("attachments[%d]: %w", i, err)
		}
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, text...)
	}
	object.Set("attachments", append(list, ']'))
	return object.Bytes(), nil
}

func encodeAttachment(a plan.Attachment) ([]byte, error) {
	network, err := a.Config.MarshalJSON()
	if err != nil {
		return nil, err
	}
	bare := a
	bare.Config, bare.CapabilityArgs = nil, nil
	object, err := toObject(bare)
	if err != nil {
		return nil, err
	}
	object.Set("config", network)
	if len(a.CapabilityArgs) > 0 {
		arguments := config.Object{}
		for _, capability := range slices.Sorted(maps.Keys(a.CapabilityArgs)) {
			arguments.Set(capability, a.CapabilityArgs[capability])
		}
		object.Set("capabilityArgs", arguments.Bytes())
	}
	return object.Bytes(), nil
}

// toObject is value's JSON, without escaping for HTML.
func toObject(value any) (config.Object, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return config.Object{}, err
	}
	return config.ParseObject(text.Bytes())
}

func decodePlan(text []byte) (*plan.Plan, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the file is empty")
	}
	var saved document
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, err
	}
	if saved.Version != formatVersion {
		return nil, fmt.Errorf("version is %d, not %d", saved.Version, formatVersion)
	}
	if err := validate(&saved.Plan); err != nil {
		return nil, err
	}
	return &saved.Plan, nil
}

// validate holds what every plan has, so that those who replay one need not look.
func validate(p *plan.Plan) error {
	if err := keyOf(p.Sandbox).validate(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	if len(p.Attachments) == 0 {
		return errors.New("attachments: there are none")
	}
	for i, attachment := range p.Attachments {
		if attachment.Config == nil {
			return fmt.Errorf("attachments[%d]: config: missing", i)
		}
		if err := nad.ValidateInterfaceName(attachment.Interface); err != nil {
			return fmt.Errorf("attachments[%d]: interface: %w", i, err)
		}
	}
	return nil
}
