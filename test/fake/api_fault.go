package fake

import (
	"net/http"
	"strings"
	"time"
)

// Always is the number of times of a Fault that does not end.
const Always = -1

// Fault is one way for the server to misbehave. What is set happens in the order of the fields.
type Fault struct {
	Kind  Kind // of the requests concerned
	Times int  // how many of them; 0 is one, Always all

	Latency    time.Duration // before anything else
	Hang       bool          // never answer
	Reset      bool          // end the connection without an answer
	Code       int           // answer with this status, worded as the real server does
	RetryAfter string        // header beside Code: seconds or a date
	Garbage    string        // answer 200 with this instead of the object
	Cut        bool          // end the connection in the middle of the answer
	SlowBody   time.Duration // wait in the middle of the answer
}

// Inject adds a fault. Of several for one request, the one that was added first happens.
func (a *API) Inject(fault Fault) {
	if fault.Times == 0 {
		fault.Times = 1
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults = append(a.faults, &fault)
}

// Fail answers requests of a kind with a status, and a Retry-After header unless that is empty.
func (a *API) Fail(kind Kind, times, code int, retryAfter string) {
	a.Inject(Fault{Kind: kind, Times: times, Code: code, RetryAfter: retryAfter})
}

// Heal removes all faults and the latency.
func (a *API) Heal() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.faults, a.latency = nil, 0
}

// SetLatency makes every request take at least that long.
func (a *API) SetLatency(latency time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.latency = latency
}

// fault takes the fault that is due for a request; the zero Fault if there is none.
func (a *API) fault(kind Kind) Fault {
	a.mu.Lock()
	defer a.mu.Unlock()
	due := Fault{}
	for _, fault := range a.faults {
		if fault.Times == 0 || fault.Kind != Any && fault.Kind != kind {
			continue
		}
		if fault.Times > 0 {
			fault.Times--
		}
		due = *fault
		break
	}
	due.Latency += a.latency
	return due
}

// happen lets the fault take its course as far as it comes before an answer. If there is to be none it does not return.
func (f Fault) happen(r *http.Request) {
	if f.Latency > 0 {
		wait(r, f.Latency)
	}
	if f.Hang {
		<-r.Context().Done()
	}
	if f.Reset {
		reset(r)
	}
	if f.Reset || r.Context().Err() != nil {
		abort()
	}
}

// abort ends the connection, or the stream of an HTTP/2 connection, in the way that net/http provides for.
func abort() { panic(http.ErrAbortHandler) }

// spoil makes the fault of an answer.
func (f Fault) spoil(t target, method string, good answer) answer {
	switch {
	case f.Code != 0:
		return refusal(f.Code, t, method)
	case f.Garbage != "":
		return answer{code: http.StatusOK, contentType: garbageType(f.Garbage), body: []byte(f.Garbage)}
	default:
		return good
	}
}

func garbageType(body string) string {
	if strings.HasPrefix(body, "<") {
		return "text/html"
	}
	return "application/json"
}

// write sends the answer with what the fault does to its body.
func (f Fault) write(w http.ResponseWriter, r *http.Request, a answer) {
	w.Header().Set("Content-Type", a.contentType)
	if f.RetryAfter != "" {
		w.Header().Set("Retry-After", f.RetryAfter)
	}
	w.WriteHeader(a.code)
	half := len(a.body) / 2
	w.Write(a.body[:half])
	if f.Cut || f.SlowBody > 0 {
		http.NewResponseController(w).Flush()
	}
	if f.SlowBody > 0 {
		wait(r, f.SlowBody)
	}
	if f.Cut {
		abort()
	}
	w.Write(a.body[half:])
}

// wait ends early if the client goes or the server is closed.
func wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}
