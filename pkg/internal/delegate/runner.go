package delegate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"

	"github.com/containernetworking/cni/pkg/invoke"
	"github.com/containernetworking/cni/pkg/types"
	"github.com/containernetworking/cni/pkg/version"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
)

// ErrNoCheck says that an attachment cannot be checked, or is not to be: its configuration is older than CHECK
// (0.4.0), or disables it.
var ErrNoCheck = errors.New("the network takes no CHECK")

// Runner runs the verbs of attachments. It walks an attachment's plugins itself: libcni's DEL stops at the first one
// that fails (DEL-3), libcni decodes each configuration and encodes it again, and does not write its cache atomically.
type Runner struct {
	Path     []string     // directories searched for plugins, in order; the plugins' CNI_PATH
	CacheDir string       // results of ADD are kept in its directory "results"
	Environ  []string     // the plugins' environment but for the CNI variables, "KEY=value" (INV-4)
	Stderr   io.Writer    // gets the plugins' stderr; nil: nobody does
	Exec     invoke.Exec  // runs plugins; nil: as processes
	Log      *slog.Logger // nil: nothing is logged
}

// Add attaches and gives the last plugin's result, in the version that this plugin chose. The result is in the cache
// then. After an error the attachment may be half made, and Del is due.
func (r Runner) Add(ctx context.Context, box plan.Sandbox, a plan.Attachment) (types.Result, error) {
	return r.AddBehind(ctx, box, a, nil)
}

// AddBehind is Add with a result of what other plugins have made before, which the first plugin gets as prevResult; nil:
// none.
func (r Runner) AddBehind(ctx context.Context, box plan.Sandbox, a plan.Attachment, result types.Result) (types.Result, error) {
	if _, err := cacheName(box, a); err != nil {
		return nil, err
	}
	for _, plugin := range a.Config.Plugins {
		s := step{verb: "ADD", sandbox: box, attachment: a, plugin: plugin, prevResult: result}
		output, err := r.run(ctx, s)
		if err != nil {
			return nil, err
		}
		if result, err = parseResult(output, a.Config.CNIVersion); err != nil {
			return nil, s.fail(err)
		}
	}
	if err := r.SaveResult(box, a, result); err != nil {
		return nil, err
	}
	return result, nil
}

// Del detaches: each plugin gets its DEL, in reverse order, whatever became of the others (DEL-3). The cached result
// goes when all of them have succeeded. The error joins those of all plugins.
func (r Runner) Del(ctx context.Context, box plan.Sandbox, a plan.Attachment) error {
	cached, unreadable := r.CachedResult(box, a)
	attached := cached != nil || unreadable != nil
	if !atLeast040(a.Config.CNIVersion) {
		cached = nil
	}
	var faults []error
	for _, plugin := range slices.Backward(a.Config.Plugins) {
		_, err := r.run(ctx, step{verb: "DEL", sandbox: box, attachment: a, plugin: plugin, prevResult: cached})
		if !attached && refusesVersion(err) {
			r.log().Warn("nothing to release: the plugin does not speak the network's version, and so was never attached", "network", a.Network, "error", err)
			continue
		}
		faults = append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return err
	}
	return r.removeResult(box, a)
}

// refusesVersion tells of an error that no repetition changes. Where the ADD did not come to its end it is the reason,
// and a runtime would repeat the DEL for ever (E085).
func refusesVersion(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && failed.Code == types.ErrIncompatibleCNIVersion
}

func (r Runner) log() *slog.Logger {
	if r.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return r.Log
}

// Check gives each plugin its CHECK, in order, up to the first that fails, with the cached result as what to find. The
// error is ErrNoCheck where the network takes none (CHK-1).
func (r Runner) Check(ctx context.Context, box plan.Sandbox, a plan.Attachment) error {
	return r.CheckAgainst(ctx, box, a, nil)
}

// CheckAgainst is Check with another result as what to find; nil: the cached one.
func (r Runner) CheckAgainst(ctx context.Context, box plan.Sandbox, a plan.Attachment, prev types.Result) error {
	if !atLeast040(a.Config.CNIVersion) {
		return fmt.Errorf("configuration version %s: %w", a.Config.CNIVersion, ErrNoCheck)
	}
	if a.Config.DisableCheck {
		return fmt.Errorf("disableCheck: %w", ErrNoCheck)
	}
	if prev == nil {
		cached, err := r.CachedResult(box, a)
		if err != nil {
			return err
		}
		prev = cached
	}
	for _, plugin := range a.Config.Plugins {
		_, err := r.run(ctx, step{verb: "CHECK", sandbox: box, attachment: a, plugin: plugin, prevResult: prev})
		if err != nil {
			return err
		}
	}
	return nil
}

// step is one plugin's turn in a verb.
type step struct {
	verb       string
	sandbox    plan.Sandbox
	attachment plan.Attachment
	plugin     config.Plugin
	prevResult types.Result         // nil: none
	valid      []types.GCAttachment // of a GC; nil: it is none
}

// run gives what the plugin printed. The error is an *Error.
func (r Runner) run(ctx context.Context, s step) ([]byte, error) {
	path, err := r.Find(s.plugin.Type)
	if err != nil {
		return nil, s.fail(err)
	}
	stdin, err := s.stdin()
	if err != nil {
		return nil, s.fail(err)
	}
	output, err := r.exec().ExecPlugin(ctx, path, stdin, s.environ(r.Environ, r.Path))
	if err != nil {
		return nil, s.fail(err)
	}
	return output, nil
}

func (r Runner) exec() invoke.Exec {
	if r.Exec != nil {
		return r.Exec
	}
	return &processes{stderr: r.Stderr}
}

// atLeast040 tells of a configuration version whether DEL and CHECK take the result of ADD.
func atLeast040(cniVersion string) bool {
	ok, err := version.GreaterThanOrEqualTo(cniVersion, "0.4.0")
	return err == nil && ok
}
