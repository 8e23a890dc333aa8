package node

import (
	"encoding/json"
	"os"
	"strings"
)

// Request is one that our plugin made to the API server.
type Request struct {
	Verb      string
	ObjectRef struct{ Resource, Namespace, Name, Subresource string }
	Code      int
}

// String is "get pods web-0".
func (r Request) String() string {
	resource := r.ObjectRef.Resource
	if r.ObjectRef.Subresource != "" {
		resource += "/" + r.ObjectRef.Subresource
	}
	return r.Verb + " " + resource + " " + r.ObjectRef.Name
}

// Requests are those that our plugin made in a namespace of the cluster, from the API server's audit log.
func (n *Node) Requests(namespace string) ([]Request, error) {
	log, err := os.ReadFile(n.auditLog())
	if err != nil {
		return nil, err
	}
	var requests []Request
	for line := range strings.Lines(string(log)) {
		if !strings.HasSuffix(line, "\n") {
			break // being written
		}
		var event struct {
			Request
			Stage          string
			ResponseStatus struct{ Code int }
		}
		if err := json.Unmarshal([]byte(line), &event); err != nil {
			return nil, err
		}
		if event.Stage == "ResponseComplete" && event.ObjectRef.Namespace == namespace {
			event.Request.Code = event.ResponseStatus.Code
			requests = append(requests, event.Request)
		}
	}
	return requests, nil
}
