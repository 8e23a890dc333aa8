# The image holds the static binary alone. To put it on a node: copy /usr/src/multus-cni/bin/multus to the node's CNI binary directory.
FROM --platform=$BUILDPLATFORM golang:1.26.8 AS build
ARG TARGETOS TARGETARCH VERSION=unknown SOURCE_DATE_EPOCH=0
WORKDIR /src
COPY . .
RUN GOOS=$TARGETOS GOARCH=$TARGETARCH ./build

FROM scratch
ARG VERSION=unknown
LABEL org.opencontainers.image.title="multus" org.opencontainers.image.version="$VERSION" org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /src/bin/multus /usr/src/multus-cni/bin/multus
ENTRYPOINT ["/usr/src/multus-cni/bin/multus"]
CMD ["--help"]
