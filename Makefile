# Parley: every command a person or CI needs. `make help` lists them.

GO        ?= go
TOOLS     := $(CURDIR)/.tools
LINT      := $(TOOLS)/golangci-lint
LINT_VERSION := v2.15.0
VULN      := $(TOOLS)/govulncheck
VULN_VERSION := v1.8.0

# SQLite is compiled from a very large generated package; the race detector is
# of no use inside it and makes it ten times slower.
RACE      := -race -gcflags='modernc.org/...=-race=false'
PACKAGES  ?= ./...
VERSION   ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  \033[1m%-15s\033[0m %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: run
run: ## Start the gateway: embedded store, demo model, chat page on http://127.0.0.1:8080
	@mkdir -p bin && $(GO) build -o bin/gateway ./cmd/gateway && exec bin/gateway run --open

.PHONY: build
build: ## Build bin/gateway, static
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o bin/gateway ./cmd/gateway

.PHONY: test
test: redis-server ## Run every test that needs Go and redis-server only, race detector on
	$(GO) test $(RACE) -count=1 -timeout 20m $(PACKAGES)
	@if [ "$(PACKAGES)" = ./... ]; then $(MAKE) --no-print-directory test-orders; fi

.PHONY: test-orders
test-orders: ## What the race detector would slow down tenfold or distort: 100,000 orders of messages and steps of turns, and what texts cost
	$(GO) test -count=1 -timeout 20m -run InOnePromptWhenever ./bot
	$(GO) test -count=1 -timeout 10m -run 'Costs(ThePage)?Much' ./api ./adapters/markdown ./cmd/gateway/terminal/...

.PHONY: test-chaos
test-chaos: redis-server ## Every experiment of make chaos in its short form; make test has it too
	$(GO) test -count=1 -v -run NothingIsLost ./test/chaos

.PHONY: test-external
test-external: chromium ## Run the tests that need a browser
	$(GO) test -tags external -timeout 10m ./test/browser/...

.PHONY: check
check: format vet lint systems vuln ## Format, vet, lint, type-check for every system, and look for known vulnerabilities

.PHONY: format
format:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted; run gofmt -w on:"; echo "$$unformatted"; exit 1; fi

.PHONY: vet
vet:
	$(GO) vet ./...
	$(GO) vet -tags external ./test/browser/...

.PHONY: lint
lint: $(LINT)
	$(LINT) run ./...

.PHONY: systems
systems: ## Type-check the whole project for windows, darwin and linux on amd64 and arm64
	$(GO) run ./test/cross

.PHONY: cross
cross: ## Build for windows, darwin and linux on amd64 and arm64; from a cold cache it takes a quarter of an hour
	@for system in linux darwin windows; do \
	  for arch in amd64 arm64; do \
	    echo "$$system/$$arch"; CGO_ENABLED=0 GOOS=$$system GOARCH=$$arch $(GO) build ./... || exit 1; \
	  done; \
	done

.PHONY: vuln
vuln: $(VULN)
	@status=0; $(VULN) ./... >$(TOOLS)/vuln.log 2>&1 || status=$$?; \
	if [ $$status = 0 ]; then echo "govulncheck: nothing known"; \
	elif [ $$status = 3 ]; then cat $(TOOLS)/vuln.log; exit 1; \
	else echo "govulncheck: skipped, it could not run here: $$(tail -n 1 $(TOOLS)/vuln.log)"; fi

.PHONY: bench
bench: redis-server ## Measure messages per second and added latency beside the raw limit; fails on a missed, unrecorded budget
	$(GO) run ./test/bench

.PHONY: chaos
chaos: redis-server ## Kill, stop and starve real gateways under load, count what became of every message, and write docs/reliability.md; ARGS="-scale 0.25" for less
	$(GO) run ./test/chaos -write $(ARGS)

.PHONY: mutate
mutate: redis-server ## Break each promise of test/mutate in turn, and see that its test notices; ARGS='-only forwarded' for some
	$(GO) run ./test/mutate $(ARGS)

.PHONY: fuzz
fuzz: ## Fuzz each parser for 20 s
	@for package in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -list '^Fuzz' $$package 2>/dev/null | grep '^Fuzz'); do \
	    echo "$$package $$target"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime 20s $$package || exit 1; \
	  done; done

# What tests need on the machine. As root on Debian it is installed; elsewhere
# the line says what to install.
.PHONY: redis-server
redis-server:
	@command -v redis-server >/dev/null || $(MAKE) --no-print-directory debian-redis-server

.PHONY: chromium
chromium:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || $(MAKE) --no-print-directory debian-chromium

debian-%:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $* >/dev/null; \
	else echo "$* is missing. Install it with your package manager, for example: sudo apt-get install $*"; exit 1; fi

$(LINT):
	GOBIN=$(TOOLS) $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)

$(VULN):
	GOBIN=$(TOOLS) $(GO) install golang.org/x/vuln/cmd/govulncheck@$(VULN_VERSION)
