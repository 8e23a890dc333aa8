package fake

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// answer is what the server sends.
type answer struct {
	code        int
	contentType string
	body        []byte
}

func object(code int, value any) answer {
	body, err := json.Marshal(value)
	if err != nil {
		panic(err) // the store holds only what came out of JSON
	}
	return answer{code: code, contentType: "application/json", body: body}
}

// cause is an element of a Status object's details.
type cause struct {
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message"`
	Field   string `json:"field,omitempty"`
}

// status is a Status object of the API, which the real server answers to what it refuses.
func status(code int, reason, message string, t target, causes ...cause) answer {
	details := map[string]any{}
	if t.name != "" {
		details["name"] = t.name
		details["kind"] = t.plural
	}
	if t.group != "" {
		details["group"] = t.group
	}
	if len(causes) > 0 {
		details["causes"] = causes
	}
	return object(code, map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure",
		"message": message, "reason": reason, "details": details, "code": code,
	})
}

// refusal is the answer of that status to a request on the target.
func refusal(code int, t target, method string) answer {
	switch code {
	case http.StatusUnauthorized:
		return status(code, "Unauthorized", "Unauthorized", target{})
	case http.StatusForbidden:
		return status(code, "Forbidden", forbidden(t, method), t)
	case http.StatusNotFound:
		return status(code, "NotFound", fmt.Sprintf("%s %q not found", t.resource(), t.name), t)
	case http.StatusConflict:
		return conflict(t, "the object has been modified; please apply your changes to the latest version and try again")
	case http.StatusTooManyRequests:
		return answer{code, "text/plain; charset=utf-8", []byte("Too many requests, please try again later.\n")}
	case http.StatusInternalServerError:
		message := "Internal error occurred: etcdserver: leader changed"
		return status(code, "InternalError", message, target{}, cause{Message: "etcdserver: leader changed"})
	case http.StatusServiceUnavailable:
		return status(code, "ServiceUnavailable", "the server is currently unable to handle the request", target{})
	case http.StatusGatewayTimeout:
		message := "Timeout: request did not complete within the allotted timeout"
		return status(code, "Timeout", message, target{})
	default:
		return status(code, "", http.StatusText(code), t)
	}
}

func forbidden(t target, method string) string {
	resource := t.plural
	if t.subresource != "" {
		resource += "/" + t.subresource
	}
	if t.name == "" {
		return fmt.Sprintf("%s is forbidden: User %q cannot %s resource %q in API group %q at the cluster scope",
			t.resource(), User, t.verb(method), resource, t.group)
	}
	return fmt.Sprintf("%s %q is forbidden: User %q cannot %s resource %q in API group %q in the namespace %q",
		t.resource(), t.name, User, t.verb(method), resource, t.group, t.namespace)
}

func conflict(t target, why string) answer {
	message := fmt.Sprintf("Operation cannot be fulfilled on %s %q: %s", t.resource(), t.name, why)
	return status(http.StatusConflict, "Conflict", message, t)
}

// immutableUID is how the real server refuses a patch for another pod of the same name.
func immutableUID(t target, uid string) answer {
	why := fmt.Sprintf("Invalid value: %q: field is immutable", uid)
	message := fmt.Sprintf("Pod %q is invalid: metadata.uid: %s", t.name, why)
	return status(http.StatusUnprocessableEntity, "Invalid", message, t,
		cause{Reason: "FieldValueInvalid", Message: why, Field: "metadata.uid"})
}

// unprocessable is how the real server refuses a JSON Patch that does not apply.
func unprocessable() answer {
	const message = "the server rejected our request due to an error in our request"
	return status(http.StatusUnprocessableEntity, "Invalid", message, target{})
}
