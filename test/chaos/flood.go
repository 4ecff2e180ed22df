package main

import "context"

// How guests flood a platform.
const (
	floodGuests = 60
	floodAtOnce = 2 // messages each siegeEvery
)

// flood is a crowd of guests who talk without end: commands that are refused,
// commands that are answered, and questions with costly answers.
type flood struct {
	guests []*chat
	tried  *attempts
}

func newFlood(w *world, p *platform, tried *attempts) *flood {
	f := &flood{tried: tried}
	for i := range floodGuests {
		f.guests = append(f.guests, p.guest(i))
	}
	w.guests = append(w.guests, f.guests...)
	return f
}

func (f *flood) talk(ctx context.Context) {
	words := []string{"/new", "/whoami", siegeWord, "/resume 1", "/allow", "/sessions", siegeWord, "/people"}
	for i := 0; pause(ctx, siegeEvery) == nil; {
		for range floodAtOnce {
			text := words[i%len(words)]
			if text == siegeWord {
				text += itoa(i)
			}
			f.guests[(i/3)%len(f.guests)].post(text)
			f.tried.add(&f.tried.guests)
			i++
		}
	}
}
