package multus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/containernetworking/cni/pkg/skel"

	"github.com/seed-2ba21eab/multus-cni/pkg/internal/config"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/delegate"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/kube"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/logging"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/plan"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/sandbox"
	"github.com/seed-2ba21eab/multus-cni/pkg/internal/state"
	"github.com/seed-2ba21eab/multus-cni/pkg/nad"
)

// Build is what was set at link time.
type Build struct {
	Version string
	Commit  string
	Date    string // RFC 3339
}

// String is what --version prints (INV-3).
func (b Build) String() string {
	return fmt.Sprintf("multus-cni version:%s, commit:%s, date:%s", b.Version, b.Commit, b.Date)
}

// About is what the CNI library prints when the program is run by hand (INV-3).
func (b Build) About() string {
	return fmt.Sprintf("CNI plugin multus %s: gives a Kubernetes pod more than one network", b.Version)
}

// Environment is what the plugin takes from its process, by value.
type Environment struct {
	Self    string   // base name of the executable
	Environ []string // "KEY=value"
	Stdout  io.Writer
	Stderr  io.Writer
}

// Plugin answers the verbs of the CNI specification 1.1.0.
type Plugin struct {
	env        Environment
	open       func(netns string) (namespace, error)
	deviceInfo nad.DeviceInfoFiles
}

// namespace is the kernel's view of one sandbox.
type namespace interface {
	IsOurs() (bool, error)
	Interfaces() ([]string, error)
	RemoveDefaultRoutes(ifname string, ipv6 bool) error
	AddDefaultRoute(gateway sandbox.Gateway) error
	DefaultRoutes(ifname string, ipv6 bool) ([]sandbox.Gateway, error)
	Close()
}

// New makes the plugin.
func New(env Environment) *Plugin {
	return &Plugin{
		env:        env,
		open:       func(path string) (namespace, error) { return sandbox.Open(path) },
		deviceInfo: nad.DeviceInfoFiles{Root: nad.DefaultDeviceInfoRoot},
	}
}

// Funcs are the verbs for the CNI library's skel.
func (p *Plugin) Funcs() skel.CNIFuncs {
	return skel.CNIFuncs{
		Add:    p.verb("ADD", (*call).add),
		Del:    p.verb("DEL", (*call).del),
		Check:  p.verb("CHECK", (*call).check),
		GC:     p.verb("GC", (*call).gc),
		Status: p.verb("STATUS", (*call).status),
	}
}

// call is one verb on its way: what was given, and the tools made for it.
type call struct {
	*Plugin
	cfg      *config.Config
	faults   error // of the configuration; only DEL with a plan can do without a valid one
	sandbox  plan.Sandbox
	prev     []byte // prevResult, nil if we are the first plugin of the outer list
	anyNetNS bool   // CNI_NETNS may be our own network namespace
	log      *slog.Logger
	store    state.Store
	runner   delegate.Runner
	kube     func() (*kube.Client, error) // connects when first called
}

// verb wraps a verb: a signal cancels it (INV-6), and its error is logged once and made a CNI error here.
func (p *Plugin) verb(name string, run func(*call, context.Context) error) func(*skel.CmdArgs) error {
	return func(args *skel.CmdArgs) error {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
		defer stop()
		// A closed stdout or stderr is then an error like any other, and does not end us with work undone. (Ignoring
		// the signal would be inherited by the delegates.)
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		started := time.Now()
		c, err := p.call(args)
		if err != nil {
			return fail("", err)
		}
		if err = run(c, ctx); err != nil {
			err = fail(c.sandbox.Pod.String(), err)
			c.log.Error(name+" failed", "error", err, "duration", time.Since(started))
			return err
		}
		c.log.Info(name+" done", "duration", time.Since(started))
		return nil
	}
}

// call reads what skel hands over. Faults of a configuration that could be read are kept for the verb to judge.
func (p *Plugin) call(args *skel.CmdArgs) (*call, error) {
	cfg, faults := config.Parse(args.StdinData, p.env.Self)
	if cfg == nil {
		return nil, faults
	}
	box, err := sandboxOf(args)
	if err != nil {
		return nil, err
	}
	log := logging.New(cfg.Logging, p.env.Stderr)
	if box.Pod != nil {
		log = log.With("pod", box.Pod.String())
	}
	for _, warning := range cfg.Warnings {
		log.Warn(warning)
	}
	return &call{
		Plugin:   p,
		cfg:      cfg,
		faults:   faults,
		sandbox:  box,
		prev:     cfg.PrevResult,
		anyNetNS: overridden(args.NetnsOverride),
		log:      log,
		store:    state.Store{Dir: cfg.CNIDir},
		runner: delegate.Runner{
			Path:     searchPath(cfg.BinDir, args.Path),
			CacheDir: cfg.CNIDir,
			Environ:  p.env.Environ,
			Stderr:   p.env.Stderr,
			Log:      log,
		},
		kube: sync.OnceValues(func() (*kube.Client, error) { return kube.New(cfg.Kubeconfig, p.env.Environ) }),
	}, nil
}

// hasKube says whether there is an API server to ask at all.
func (c *call) hasKube() bool {
	_, err := c.kube()
	return !errors.Is(err, kube.ErrNotConfigured)
}
