// Package deploy checks what is in the folder deploy as far as that goes
// without a container engine, a cluster or a running systemd: the image's
// build stage is run and its binary started in an empty root, files are parsed
// strictly and held against the gateway's own configuration, and dashboards
// and alerts against the metrics that a running gateway serves.
package deploy
