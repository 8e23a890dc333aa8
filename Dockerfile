# The image is the static binary, a static busybox and images/entrypoint.sh, which installs the binary on the node.
# docker buildx build --platform linux/amd64,linux/arm64,linux/arm/v7,linux/ppc64le,linux/s390x,linux/riscv64 .
FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
ARG TARGETOS TARGETARCH TARGETVARIANT VERSION=unknown SOURCE_DATE_EPOCH=0
WORKDIR /src
COPY . .
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH GOARM=${TARGETVARIANT#v} ./build && images/rootfs /rootfs

FROM busybox:1.37.0-musl AS busybox

FROM scratch
ARG VERSION=unknown COMMIT=unknown
LABEL org.opencontainers.image.title="multus" \
      org.opencontainers.image.description="More than one network for a Kubernetes pod" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION" \
      org.opencontainers.image.revision="$COMMIT"
COPY --from=busybox /bin/busybox /bin/busybox
COPY --from=build /rootfs/ /
ENTRYPOINT ["/entrypoint.sh"]
