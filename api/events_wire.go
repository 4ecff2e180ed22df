package api

import (
	"encoding/json"
	"strconv"
	"time"
)

func (st *stream) send(event string, data any) error { return st.sendID(event, 0, data) }

// sendID writes one event. JSON has no raw line breaks, so one data line holds it.
func (st *stream) sendID(event string, id int64, data any) error {
	body, err := json.Marshal(data)
	if err != nil {
		return err
	}
	frame := make([]byte, 0, len(body)+64)
	frame = append(append(frame, "event: "...), event...)
	if id > 0 {
		frame = append(frame, "\nid: "...)
		frame = strconv.AppendInt(frame, id, 10)
	}
	frame = append(append(append(frame, "\ndata: "...), body...), "\n\n"...)
	return st.write(frame)
}

func (st *stream) write(frame []byte) error {
	// Only a connection knows deadlines; a recorder in a test does not.
	_ = st.control.SetWriteDeadline(time.Now().Add(eventTimeout))
	if _, err := st.out.Write(frame); err != nil {
		return err
	}
	return st.control.Flush()
}
