package kube

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// script is an API server in memory that answers one entry after the other, the last one for ever.
type script struct {
	answers []reply
	asked   []time.Time
}

type reply struct {
	code  int // 0: the connection is refused
	after time.Duration
	retry string // header Retry-After
}

func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	now := s.answers[min(len(s.asked), len(s.answers)-1)]
	s.asked = append(s.asked, time.Now())
	if err := sleep(r.Context(), now.after); err != nil {
		return nil, err
	}
	if now.code == 0 {
		return nil, errors.New("connection refused")
	}
	header := http.Header{}
	if now.retry != "" {
		header.Set("Retry-After", now.retry)
	}
	body := `{"metadata":{"namespace":"blue","name":"web-0"}}`
	return &http.Response{StatusCode: now.code, Header: header, Body: io.NopCloser(strings.NewReader(body))}, nil
}

// read runs a read against a script, and gives the time that it took.
func read(ctx context.Context, server *script) (time.Duration, error) {
	client := &Client{Budget: budget, server: &url.URL{Scheme: "https", Host: "api.test"}, transport: server}
	started := time.Now()
	_, err := client.Pod(ctx, "blue", "web-0")
	return time.Since(started), err
}

func inBubble(t *testing.T, name string, test func(g Gomega, ctx context.Context)) {
	t.Run(name, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { test(NewWithT(t), t.Context()) })
	})
}

func TestRetry(t *testing.T) {
	inBubble(t, "a slow answer may take the whole budget (NET-14)", func(g Gomega, ctx context.Context) {
		took, err := read(ctx, &script{answers: []reply{{code: 200, after: 9900 * time.Millisecond}}})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(took).To(Equal(9900 * time.Millisecond))
	})
	inBubble(t, "pauses grow until the budget of 10 s is used up (NET-14)", func(g Gomega, ctx context.Context) {
		server := &script{answers: []reply{{code: 503}}}
		took, err := read(ctx, server)
		g.Expect(err).To(MatchError(ContainSubstring("gave up after")))
		g.Expect(asError(err).Status).To(Equal(503))
		g.Expect(took).To(And(BeNumerically(">", 7*time.Second), BeNumerically("<=", budget)))
		g.Expect(len(server.asked)).To(BeNumerically("<", 15))
		for n := 2; n < 5; n++ {
			before, now := server.asked[n-1].Sub(server.asked[n-2]), server.asked[n].Sub(server.asked[n-1])
			g.Expect(now).To(BeNumerically(">=", before))
		}
	})
	inBubble(t, "a refused connection is tried again (NET-14)", func(g Gomega, ctx context.Context) {
		server := &script{answers: []reply{{}, {}, {}, {code: 200}}}
		_, err := read(ctx, server)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(server.asked).To(HaveLen(4))
	})
	inBubble(t, "no answer ends with the budget (NET-14)", func(g Gomega, ctx context.Context) {
		took, err := read(ctx, &script{answers: []reply{{code: 500}, {after: time.Hour}}})
		g.Expect(err).To(MatchError(context.DeadlineExceeded))
		g.Expect(took).To(Equal(budget))
	})
	inBubble(t, "Retry-After is honoured, in seconds and as a date (NET-14)", func(g Gomega, ctx context.Context) {
		asSeconds := func() string { return "3" }
		asDate := func() string { return time.Now().Add(3 * time.Second).UTC().Format(http.TimeFormat) }
		for _, header := range []func() string{asSeconds, asDate} {
			took, err := read(ctx, &script{answers: []reply{{code: 429, retry: header()}, {code: 200}}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(took).To(Equal(3*time.Second), header())
		}
	})
	inBubble(t, "a Retry-After beyond the budget leaves one attempt within it (NET-14)", func(g Gomega, ctx context.Context) {
		server := &script{answers: []reply{{code: 503, retry: "86400000000"}, {code: 200}}}
		took, err := read(ctx, server)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(took).To(Equal(8 * time.Second))
		server = &script{answers: []reply{{code: 503, retry: "60"}}}
		took, err = read(ctx, server)
		g.Expect(err).To(HaveOccurred())
		g.Expect(took).To(Equal(8 * time.Second))
		g.Expect(server.asked).To(HaveLen(2))
	})
	inBubble(t, "a Retry-After that is nonsense is ignored", func(g Gomega, ctx context.Context) {
		for _, header := range []string{"-5", "soon", "Thu, 01 Jan 1970 00:00:00 GMT"} {
			took, err := read(ctx, &script{answers: []reply{{code: 503, retry: header}, {code: 200}}})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(took).To(BeNumerically("<=", firstPause))
		}
	})
	inBubble(t, "the caller's deadline holds too (DEL-6)", func(g Gomega, ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
		defer cancel()
		took, err := read(ctx, &script{answers: []reply{{code: 503}}})
		g.Expect(err).To(HaveOccurred())
		g.Expect(took).To(BeNumerically("<=", 2*time.Second))
	})
	inBubble(t, "cancellation wins at once, in a pause too (INV-6)", func(g Gomega, ctx context.Context) {
		for _, answer := range []reply{{code: 429, retry: "5"}, {after: time.Hour}} {
			ctx, cancel := context.WithCancel(ctx)
			stop := time.AfterFunc(time.Second, cancel)
			took, err := read(ctx, &script{answers: []reply{answer}})
			stop.Stop()
			g.Expect(err).To(MatchError(context.Canceled))
			g.Expect(asError(err)).NotTo(BeNil())
			g.Expect(took).To(Equal(time.Second))
		}
	})
}
