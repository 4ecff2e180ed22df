// Command chaos kills, stops and starves real gateways under load and counts
// what became of every message.
//
// Each message has a number. People on strict fake platforms say them, and
// programs that use the gateways' HTTP API; a fake model answers with the numbers it was asked about, and an oracle compares
// what was said, what the store's log holds, and what people were shown: every
// number must be stored once, answered by one committed turn, and shown once,
// in the order of its chat. What is shown twice must be explained by a
// disruption between the sending and its receipt.
//
// Gateways are processes of their own, built with the tag faults; platforms,
// model and Redis are this program's or its children. All of it is on
// loopback, bounded in count and time, and ends with it. It judges; it must
// not know how the gateway does its work.
package main
