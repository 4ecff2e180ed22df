package redisstore

import (
	"hash/fnv"
	"strconv"
	"strings"

	"parley/sessions"
)

// slotCount is the number of hash slots of a Redis Cluster.
const slotCount = 16384

// partition is one part of the key space. base is its tag key, which every
// other key of it begins with; nothing is stored under base itself.
type partition struct {
	index int
	base  string
	slot  int
}

// key names a key of the partition as the scripts do.
func (p partition) key(kind, name string) string { return p.base + ":" + kind + ":" + name }

// wakeChannel is where hints about what is due go, liveChannel where hints
// about a session go.
func (p partition) wakeChannel() string               { return p.base + ":wake" }
func (p partition) liveChannel(session string) string { return p.key("live", session) }

// partitions makes count partitions whose slots lie evenly apart.
func partitions(prefix string, count int) []partition {
	tags := tagsFor(count)
	list := make([]partition, count)
	for i, tag := range tags {
		list[i] = partition{index: i, base: prefix + "{" + tag + "}", slot: slotOf(tag)}
	}
	return list
}

// tagsFor finds for each partition the first short word, in counting order,
// whose slot is exactly the partition's share of the slot range. It is the
// same on every machine and for ever: stored keys depend on it.
func tagsFor(count int) []string {
	tags := make([]string, count)
	wanted := make(map[int]int, count)
	for i := range count {
		wanted[i*slotCount/count] = i
	}
	for n := int64(0); len(wanted) > 0; n++ {
		tag := strconv.FormatInt(n, 36)
		if i, ok := wanted[slotOf(tag)]; ok {
			tags[i] = tag
			delete(wanted, slotOf(tag))
		}
	}
	return tags
}

// slotOf is the hash slot of a tag: CRC16 (XMODEM) modulo 16384.
func slotOf(tag string) int {
	crc := uint16(0)
	for i := range len(tag) {
		crc ^= uint16(tag[i]) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc) % slotCount
}

// partitionOf hashes a session id, surface, lock, chat or timer's home to a
// partition. Stored keys depend on it.
func partitionOf(name string, count int) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(sessions.Home(name))) // never fails
	sum := h.Sum64()
	return int((sum ^ sum>>32) % uint64(count)) //nolint:gosec // below count
}

func (s *Store) of(name string) partition { return s.parts[partitionOf(name, len(s.parts))] }

func (s *Store) ofSurface(surface string) partition { return s.of(sessions.SurfaceHome(surface)) }

// escapeHome keeps the first slash of a timer's reference the one between home
// and name.
func escapeHome(home string) string {
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(home)
}

func unescapeHome(home string) string {
	return strings.NewReplacer("%2F", "/", "%25", "%").Replace(home)
}

func timerRef(home, name string) string { return escapeHome(home) + "/" + name }

// An id that carries its partition: "5-abc…".
func partitionedID(p partition) string { return strconv.Itoa(p.index) + "-" + newToken() }

// ofID is the partition an id carries.
func (s *Store) ofID(id string) (partition, bool) {
	number, _, ok := strings.Cut(id, "-")
	index, err := strconv.Atoi(number)
	if !ok || err != nil || index < 0 || index >= len(s.parts) {
		return partition{}, false
	}
	return s.parts[index], true
}
