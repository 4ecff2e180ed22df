// Package bot joins the rooms: it takes events in from adapters and the API,
// lets routing decide, posts to the session store, runs claimed turns with the
// agent, and sends what is in the outbox.
//
// It promises that nothing is acknowledged before it is durable, nothing is
// sent that is not in the outbox, and no send begins on an answer of the store
// that is too old to still hold the lane. Between turns a session costs it
// nothing but a place in a bounded cache.
//
// It must not know which platform or store it has before it: adapters, stores
// and models are interfaces here, and what they can do is data.
package bot
