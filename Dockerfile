# One image holds both binaries: the operator runs receivers from its own image.
FROM golang:1.26 AS build
WORKDIR /src

# The modules change less often than the code: they get a layer of their own.
COPY go.mod go.sum ./
RUN go mod download

COPY api/ api/
COPY cmd/ cmd/
COPY controllers/ controllers/
COPY internal/ internal/
COPY receiver/ receiver/

ARG VERSION=dev
ARG TARGETOS=linux
ARG TARGETARCH
RUN CGO_ENABLED=0 GOOS=${TARGETOS} GOARCH=${TARGETARCH} \
    go build -trimpath -buildvcs=false -ldflags "-s -w -X main.version=${VERSION}" -o /out/ ./cmd/operator ./cmd/receiver

# Nothing but the binaries and the certificate authorities that calls to https destinations are checked against: no shell,
# no package manager.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/operator /out/receiver /
# A number, so that the kubelet can check runAsNonRoot without looking into the image.
USER 65532:65532
ENTRYPOINT ["/operator"]
