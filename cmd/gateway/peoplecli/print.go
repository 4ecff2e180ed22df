package peoplecli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"parley/cmd/gateway/cli"
	"parley/cmd/gateway/client"
	"parley/people"
	"parley/routing"
	"parley/sessions"
)

func (p command) list(ctx context.Context, where Door, asJSON bool) error {
	everybody, err := where.Everybody(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return p.PrintJSON(everybody)
	}
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHO\tROLE\tFROM")
	for _, person := range everybody.People {
		fmt.Fprintf(table, "%s\t%s\t%s\n", cli.Printable(strings.Join(person.Identities, ", ")), cli.Printable(string(person.Role)), cli.Printable(from(person)))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if everybody.More {
		fmt.Fprintf(p.Out, "… and more: these are the first %d\n", len(everybody.People))
	}
	return p.listRequests(everybody.Requests)
}

// listRequests prints who waits; without anybody it prints nothing.
func (p command) listRequests(waiting []people.Request) error {
	if len(waiting) == 0 {
		return nil
	}
	fmt.Fprintln(p.Out, "\nThese ask to be let in; `gateway people allow CODE` does it, `gateway people block CODE` refuses for good:")
	table := tabwriter.NewWriter(p.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CODE\tWHO\tSINCE\tNAME")
	for _, request := range waiting {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", cli.Printable(request.Code), cli.Printable(request.Identity), request.At.UTC().Format(time.RFC3339), cli.Printable(request.Name))
	}
	return table.Flush()
}

// from is where somebody's role comes from.
func from(person people.Person) string {
	switch {
	case person.Configured != "" && person.Stored != "":
		return fmt.Sprintf("configuration (%s), given (%s)", person.Configured, person.Stored)
	case person.Configured != "":
		return "configuration"
	case person.Stored != "":
		return "given"
	}
	return "-"
}

// give gives somebody a role and says what they are now.
func (p command) give(ctx context.Context, flags *cli.Flags, who string, role people.Role) error {
	return p.with(ctx, flags, false, func(ctx context.Context, where Door, live bool) error {
		person, err := where.Give(ctx, who, role)
		if err != nil {
			return notGiven(who, err)
		}
		if flags.AsJSON {
			return p.PrintJSON(person)
		}
		untold := ""
		if !live && role.Rank() >= routing.Member.Rank() {
			untold = "; tell them yourself, since no gateway runs here that could"
		}
		_, err = fmt.Fprintf(p.Out, "%s has the role %s now%s\n", cli.Printable(person.ID), cli.Printable(string(person.Role)), untold)
		return err
	})
}

// notGiven is a refusal with what to do about it, in the same words from a
// running gateway, which says two sentences, as from the store.
func notGiven(who string, err error) error {
	if errors.Is(err, sessions.ErrNotFound) {
		return fmt.Errorf("nobody waits with the code %s; `gateway people list` shows who does, and an id such as telegram:12345 needs no code", strconv.Quote(cli.Printable(who)))
	}
	if refusal, ok := errors.AsType[*client.RefusedError](err); ok {
		return errors.New(strings.TrimSuffix(strings.TrimPrefix(refusal.Error(), "Nothing was changed: "), "."))
	}
	return err
}
