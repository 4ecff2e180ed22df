package fault

// Point is a place on the way of a message.
type Point string

// The points, in the order a message passes them.
const (
	BeforeWrite            Point = "before write"              // an event came in; nothing is stored
	AfterWriteBeforeAck    Point = "after write before ack"    // it is stored; its platform is not told
	AfterAck               Point = "after ack"                 // its platform was told
	AfterClaim             Point = "after claim"               // a turn was taken up; no model was asked
	MidModel               Point = "mid-model"                 // the model has begun to answer
	MidDraft               Point = "mid-draft"                 // those who watch were shown the beginning of the answer
	BeforeSend             Point = "before send"               // the answer is stored; it is not sent
	AfterSendBeforeReceipt Point = "after send before receipt" // it is sent; the store is not told
	AfterReceipt           Point = "after receipt"             // the store was told
)

// Points are all points.
func Points() []Point {
	return []Point{
		BeforeWrite, AfterWriteBeforeAck, AfterAck, AfterClaim, MidModel, MidDraft, BeforeSend, AfterSendBeforeReceipt, AfterReceipt,
	}
}

// Variable is the environment variable that arms a point.
const Variable = "PARLEY_FAULT"

// Actions of a plan.
const (
	Kill = "kill" // SIGKILL to oneself
	Stop = "stop" // SIGSTOP to oneself; who arranged it sends SIGCONT
)
