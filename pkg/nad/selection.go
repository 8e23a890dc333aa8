package nad

import (
	"errors"
	"fmt"
	"strings"
)

// ParseNetworkAnnotation reads the value of a pod's network annotation in either of its syntaxes: a comma list of
// [<namespace>/]<name>[@<interface>], or a JSON list (de-facto standard v1.3, section 4.1). A blank value selects nothing.
// Selections come in the order of the annotation, with defaultNamespace where they name none.
//
// Every value is checked. The error joins all faults, each with its element and key.
func ParseNetworkAnnotation(value, defaultNamespace string) ([]*NetworkSelectionElement, error) {
	selections, _, err := ParseSelections(value, defaultNamespace)
	return selections, err
}

// ParseSelections is ParseNetworkAnnotation with warnings: keys that are not known (a key with a dot is somebody else's
// and none of our business), and keys in another than their standard spelling, which are honoured. Warnings come with an
// error as well.
//
// Protocols of port mappings are given in lower case, and as "tcp" where there is none. Other values stay as they are
// written.
func ParseSelections(value, defaultNamespace string) (selections []*NetworkSelectionElement, warnings []string, err error) {
	p := parser{source: newSource(value), namespace: defaultNamespace}
	switch text := strings.TrimSpace(value); {
	case strings.HasPrefix(text, "["):
		p.list()
	case strings.HasPrefix(text, "{"):
		p.faults.add("a JSON object where a list is needed: [{…}]")
	default:
		p.short()
	}
	if err := p.faults.err(); err != nil {
		return nil, p.warnings.list(), err
	}
	return p.selections, p.warnings.list(), nil
}

// String gives the short form, "namespace/name@interface".
func (e *NetworkSelectionElement) String() string {
	text := e.Name
	if e.Namespace != "" {
		text = e.Namespace + "/" + text
	}
	if e.InterfaceRequest != "" {
		text += "@" + e.InterfaceRequest
	}
	return text
}

// parser reads one annotation.
type parser struct {
	source     source
	namespace  string // of selections that name none
	selections []*NetworkSelectionElement
	faults     notes
	warnings   notes
}

// short reads the comma list (NET-2).
func (p *parser) short() {
	index := 0
	for item := range strings.SplitSeq(p.source.text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			p.item(index, item)
			index++
		}
	}
}

// item takes the interface off before it looks for a namespace, so that "n1@a/b" is a fault of the interface's name and
// not another namespace (E004).
func (p *parser) item(index int, item string) {
	name, ifname, asks := strings.Cut(item, "@")
	selection := &NetworkSelectionElement{Name: name, InterfaceRequest: ifname}
	selection.splitName(p.namespace)
	faults := selection.check()
	if asks && ifname == "" {
		faults = append(faults, fault{"interface", errors.New("empty after '@'")})
	}
	p.take(index, item, selection, faults)
}

// take keeps a selection, or its faults. name is as the annotation has it.
func (p *parser) take(index int, name string, selection *NetworkSelectionElement, faults []fault) {
	for _, f := range faults {
		p.faults.add("%s: %s: %v", label(index, name), f.key, f.err)
	}
	p.selections = append(p.selections, selection)
}

// label is how messages name an element.
func label(index int, name string) string {
	if name == "" {
		return fmt.Sprintf("element %d", index)
	}
	return fmt.Sprintf("element %d (%s)", index, quote(name))
}

// splitName settles the namespace: the one within the name, the one of its own key, else the default. Both syntaxes
// come here, so that a name means the same in each (NET-3, E010).
func (e *NetworkSelectionElement) splitName(defaultNamespace string) {
	if namespace, name, within := strings.Cut(e.Name, "/"); within {
		e.Namespace, e.Name = namespace, name
	} else if e.Namespace == "" {
		e.Namespace = defaultNamespace
	}
}
