// Package device knows which devices this pod was given: PodResources, checkpoint, DRA.
//
// It touches the kubelet's PodResources socket and its checkpoint file, and by the API that it is given ResourceClaims
// and ResourceSlices; all of them only when a NAD names a resource.
package device
