package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/cmd/gateway/datafolder"
)

// loginFileName is a page in the data folder that leads to a login link. A
// browser is started with this file's name, so that the link itself is in no
// list of processes. Only its user can read it.
const loginFileName = "login.html"

func (p *program) loginCommand(flags *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use: "login", Short: "Print a link that signs one browser in at the gateway that runs on this machine, once", Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return p.Ask(command.Context(), flags, func(ctx context.Context, c *client.Client) error { return p.login(ctx, c, flags) })
		},
	}
}

func (p *program) login(ctx context.Context, c *client.Client, flags *cli.Flags) error {
	link, err := c.LoginLink(ctx)
	if err != nil {
		return err
	}
	if flags.AsJSON {
		return p.PrintJSON(map[string]string{"url": link})
	}
	_, err = fmt.Fprintln(p.Out, link)
	return err
}

// browse opens a link in the browser of whoever sits here, if there is one. It
// waits for nothing; what goes wrong is no failure, because the link is printed
// as well. It returns how to clean up.
func (p *program) browse(data, link string) (cleanUp func() error) {
	path, err := filepath.Abs(filepath.Join(data, loginFileName))
	command := p.opener()
	if err != nil || command == nil {
		return func() error { return nil }
	}
	page := `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=` + html.EscapeString(link) + `"><title>Parley</title>`
	if err = errors.Join(os.WriteFile(path, nil, 0o600), datafolder.CloseToOthers(path), os.WriteFile(path, []byte(page), 0o600)); err == nil {
		address := (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
		started := exec.Command(command[0], append(command[1:], address)...) //nolint:gosec,noctx // one of a few programs; it outlives the gateway
		if started.Start() == nil {
			go func() { _ = started.Wait() }()
		}
	}
	return func() error { return datafolder.Remove(path) }
}

// opener is the program that opens a page in a browser; nil: there is none, or
// nobody to look at it.
func (p *program) opener() []string {
	switch runtime.GOOS {
	case "darwin":
		return []string{"open"}
	case "windows":
		return []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	for _, display := range []string{"DISPLAY", "WAYLAND_DISPLAY"} {
		if name, _ := p.Lookup(display); name != "" {
			return []string{"xdg-open"}
		}
	}
	return nil
}
