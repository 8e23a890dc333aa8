// Package device is a device plugin of a kubelet, for devices that exist in name only.
//
// It touches the kubelet's directory of device plugins, which holds its socket while it runs.
package device

import (
	"context"
	"net"
	"path/filepath"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

// Plugin offers devices of one resource.
type Plugin struct {
	v1beta1.UnimplementedDevicePluginServer
	server *grpc.Server
	ids    []string
	done   chan struct{}
}

// Start serves the devices, and registers them with the kubelet that has the directory.
func Start(ctx context.Context, dir, resource string, ids ...string) (*Plugin, error) {
	socket := filepath.Join(dir, "test.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return nil, err
	}
	p := &Plugin{server: grpc.NewServer(), ids: ids, done: make(chan struct{})}
	v1beta1.RegisterDevicePluginServer(p.server, p)
	go func() { _ = p.server.Serve(listener) }() // until Stop
	if err := register(ctx, filepath.Join(dir, "kubelet.sock"), resource, filepath.Base(socket)); err != nil {
		p.Stop()
		return nil, err
	}
	return p, nil
}

func register(ctx context.Context, kubelet, resource, endpoint string) error {
	connection, err := grpc.NewClient("unix://"+kubelet, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = v1beta1.NewRegistrationClient(connection).Register(ctx, &v1beta1.RegisterRequest{
		Version: v1beta1.Version, Endpoint: endpoint, ResourceName: resource,
	})
	return err
}

// Stop takes the plugin away; the devices are then unhealthy.
func (p *Plugin) Stop() {
	close(p.done)
	p.server.Stop() // removes the socket
}

// GetDevicePluginOptions has none.
func (p *Plugin) GetDevicePluginOptions(context.Context, *v1beta1.Empty) (*v1beta1.DevicePluginOptions, error) {
	return &v1beta1.DevicePluginOptions{}, nil
}

// ListAndWatch gives the devices once: they stay the same.
func (p *Plugin) ListAndWatch(_ *v1beta1.Empty, stream grpc.ServerStreamingServer[v1beta1.ListAndWatchResponse]) error {
	var devices []*v1beta1.Device
	for _, id := range p.ids {
		devices = append(devices, &v1beta1.Device{ID: id, Health: v1beta1.Healthy})
	}
	if err := stream.Send(&v1beta1.ListAndWatchResponse{Devices: devices}); err != nil {
		return err
	}
	select {
	case <-p.done:
	case <-stream.Context().Done():
	}
	return nil
}

// Allocate has nothing to add to containers.
func (p *Plugin) Allocate(_ context.Context, request *v1beta1.AllocateRequest) (*v1beta1.AllocateResponse, error) {
	answer := &v1beta1.AllocateResponse{}
	for range request.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &v1beta1.ContainerAllocateResponse{})
	}
	return answer, nil
}
