// Package metrics counts what one gateway does and shows it in Prometheus'
// text format.
//
// It promises that labels are words of closed lists, so that no id, name or
// text of anybody gets in; that counting allocates nothing and takes no lock;
// and that a scrape asks neither the store nor a platform nor the model.
//
// It must not know the gateway it counts for: that calls it, or hands it
// functions to read, and wraps its store and its models with it.
package metrics
