package bot

func (m *Metrics) makeCheckpoints(in maker) {
	m.checkpoints = pairsOf(in.counter("checkpoints_total", "Checkpoints of conversations that ended here, by why they were made and how they ended. nothing: nothing was said since the last one; overtaken: another was made meanwhile, or the conversation was erased.", "reason", "outcome"),
		[]checkpointReason{checkpointManual, checkpointNewSession, checkpointTurnLimit, checkpointIdle},
		[]checkpointOutcome{checkpointMade, checkpointNothing, checkpointOvertaken, checkpointFailed})
}

func (m *Metrics) checkpointEnded(reason checkpointReason, outcome checkpointOutcome) {
	if m == nil {
		return
	}
	m.checkpoints.inc(reason, outcome)
}
