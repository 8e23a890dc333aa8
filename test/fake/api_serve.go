package fake

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// serve answers one request.
func (a *API) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	t := parse(r.URL.Path)
	kind := t.kind(r.Method)
	a.record(kind, r, body)
	fault := a.fault(kind)
	fault.happen(r)
	good := answer{}
	switch {
	case !a.knows(r):
		good = refusal(http.StatusUnauthorized, t, r.Method)
	case fault.Code == 0 && fault.Garbage == "":
		good = a.answer(t, kind, r, body)
	}
	fault.write(w, r, fault.spoil(t, r.Method, good))
}

func (a *API) record(kind Kind, r *http.Request, body []byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, Request{
		Kind:        kind,
		Method:      r.Method,
		Path:        r.URL.RequestURI(),
		Proto:       r.Proto,
		ContentType: r.Header.Get("Content-Type"),
		UserAgent:   r.UserAgent(),
		Body:        string(body),
	})
}

// knows says that the request has a credential of ours.
func (a *API) knows(r *http.Request) bool {
	return len(r.TLS.VerifiedChains) > 0 || r.Header.Get("Authorization") == "Bearer "+a.Token()
}

func (a *API) answer(t target, kind Kind, r *http.Request, body []byte) answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch kind {
	case GetPod, GetNAD, GetClaim:
		return a.get(t)
	case ListSlices:
		return a.listSlices(r.URL.Query().Get("fieldSelector"))
	case PatchStatus:
		return a.patch(t, r.Header.Get("Content-Type"), body)
	case UpdateStatus:
		return a.update(t, body)
	case CreateEvent:
		return answer{code: http.StatusCreated, contentType: "application/json", body: body}
	default:
		return a.other(t)
	}
}

func (a *API) get(t target) answer {
	found, ok := a.store[t.object()]
	if !ok {
		return refusal(http.StatusNotFound, t, http.MethodGet)
	}
	return object(http.StatusOK, found)
}

// other answers what was stored by AddObject.
func (a *API) other(t target) answer {
	if found, ok := a.store[t]; ok {
		return object(http.StatusOK, found)
	}
	return answer{code: http.StatusNotFound, contentType: "text/plain; charset=utf-8", body: []byte("404 page not found\n")}
}

func (a *API) patch(t target, contentType string, body []byte) answer {
	old, ok := a.store[t.object()]
	if !ok {
		return refusal(http.StatusNotFound, t, http.MethodPatch)
	}
	patched, refused := patchOf(contentType, body, old)
	if refused != nil {
		return *refused
	}
	if uid := text(section(patched, "metadata"), "uid"); uid != text(section(old, "metadata"), "uid") {
		return immutableUID(t, uid)
	}
	return a.replace(t, old, patched)
}

// patchOf applies a patch of any of the three types that the real server knows beside server-side apply.
func patchOf(contentType string, body []byte, old map[string]any) (map[string]any, *answer) {
	switch contentType {
	case "application/json-patch+json":
		var operations []operation
		if err := json.Unmarshal(body, &operations); err != nil {
			return nil, badRequest(err)
		}
		patched, err := jsonPatch(old, operations)
		if err != nil {
			refused := unprocessable()
			return nil, &refused
		}
		return patched, nil
	case "application/merge-patch+json", "application/strategic-merge-patch+json":
		var change map[string]any
		if err := json.Unmarshal(body, &change); err != nil {
			return nil, badRequest(err)
		}
		return mergePatch(old, change).(map[string]any), nil
	default:
		refused := status(http.StatusUnsupportedMediaType, "UnsupportedMediaType",
			"the body of the request was in an unknown format - accepted media types include: application/json-patch+json, "+
				"application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml", target{})
		return nil, &refused
	}
}

func badRequest(err error) *answer {
	refused := status(http.StatusBadRequest, "BadRequest", "error decoding patch: "+err.Error(), target{})
	return &refused
}

func (a *API) update(t target, body []byte) answer {
	old, ok := a.store[t.object()]
	if !ok {
		return refusal(http.StatusNotFound, t, http.MethodPut)
	}
	var sent map[string]any
	if err := json.Unmarshal(body, &sent); err != nil {
		return *badRequest(err)
	}
	want, have := text(section(sent, "metadata"), "uid"), text(section(old, "metadata"), "uid")
	if want != "" && want != have {
		return conflict(t, fmt.Sprintf("StorageError: invalid object, Code: 4, Key: /registry/pods/%s/%s, ResourceVersion: 0, "+
			"AdditionalErrorMsg: Precondition failed: UID in precondition: %s, UID in object meta: %s", t.namespace, t.name, want, have))
	}
	return a.replace(t, old, sent)
}

// replace stores the pod with new metadata and status; the rest of it stays, as the subresource has it.
func (a *API) replace(t target, old, sent map[string]any) answer {
	metadata := section(sent, "metadata")
	version := text(section(old, "metadata"), "resourceVersion")
	if wanted := text(metadata, "resourceVersion"); wanted != "" && wanted != version {
		return refusal(http.StatusConflict, t, http.MethodPatch)
	}
	if text(metadata, "name") != t.name || text(metadata, "namespace") != t.namespace {
		return status(http.StatusBadRequest, "BadRequest", "the name of the object does not match the name on the URL", target{})
	}
	if len(section(metadata, "annotations")) == 0 {
		delete(metadata, "annotations")
	}
	metadata["uid"] = section(old, "metadata")["uid"]
	sent["spec"] = old["spec"]
	number, _ := strconv.Atoi(version)
	stored := versioned(sent, number+1)
	a.store[t.object()] = stored
	return object(http.StatusOK, stored)
}
