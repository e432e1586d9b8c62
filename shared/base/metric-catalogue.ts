/**
 * Every metric, declared once. From here come the code's instruments, the reference table in
 * `shared/docs/metrics.md` and the test that dashboards and alerts name only what exists.
 * Counters name events, gauges name states. Counts of entries are never counts of mutations.
 */
export interface MetricDeclaration {
  readonly kind: 'counter' | 'gauge' | 'distribution';
  /** UCUM: `1` for a count, `By` bytes, `ms` milliseconds, `s` seconds. */
  readonly unit: '1' | 'By' | 'ms' | 's';
  readonly labels?: readonly string[];
  readonly meaning: string;
}

const counter = (meaning: string, labels?: readonly string[], unit: MetricDeclaration['unit'] = '1') =>
  ({ kind: 'counter', unit, meaning, ...(labels && { labels }) }) as const;
const gauge = (meaning: string, unit: MetricDeclaration['unit'] = '1') => ({ kind: 'gauge', unit, meaning }) as const;
const distribution = (meaning: string, unit: MetricDeclaration['unit']) =>
  ({ kind: 'distribution', unit, meaning }) as const;

export const METRICS = {
  // Bulk sink (sinks that batch).
  numRecordsSend: counter(
    'Records handed to the batcher for the first time, or sent as a request of their own. Once per record and delivery; retries and isolation never recount.',
  ),
  numBytesSend: counter(
    'Serialized size of the entries counted by numRecordsSend: payload volume, not wire volume.',
    undefined,
    'By',
  ),
  numRecordsSendErrors: counter(
    'Records given to the failure policy: the serializer refused them, or Bigtable refused them alone. Counted before the policy runs.',
  ),
  recordsSkipped: counter(
    'Records for which the serializer returned null, rows of a scan of which the form makes nothing, and changes of which no message is made. Nothing else reports a skip, but for what changeStreamRecordsSkippedWithoutChange counts among them.',
  ),
  recordsApplied: counter('Entries that Bigtable answered as applied.'),
  inFlightEntries: gauge('Entries admitted and not yet settled, summed over tables.'),
  inFlightBytes: gauge('Serialized size of the entries counted by inFlightEntries.', 'By'),
  parkedEntries: gauge(
    'Entries that wait, with their rows held, for a retry after a transient answer or for the repair of a missing table or family.',
  ),
  activeClients: gauge('Open Bigtable clients: one per project, instance and application profile.'),
  capacityEvictions: counter('Clients closed because maxActiveInstances was reached, least recently used first.'),
  idleEvictions: counter('Clients closed because none of their tables was written for destinationIdleTimeout.'),
  'errorClass.errors': counter(
    'Entries and single-row requests that failed with a confirmed identity, by status. A refusal that a whole batch shared is not counted until it is confirmed alone, but for NOT_FOUND under create-if-needed: there every entry counts each time it is answered so.',
    ['code'],
  ),
  tablesCreated: counter('Tables created by table auto-creation.'),
  columnFamiliesAdded: counter('Families added by table auto-creation to tables that already existed.'),
  'destination.recordsSend': counter('numRecordsSend of one table. Only with perDestinationMetrics.', ['destination']),
  'destination.sendErrors': counter('numRecordsSendErrors of one table. Only with perDestinationMetrics.', [
    'destination',
  ]),
  requestsSent: counter('MutateRows requests sent, including retries and isolation.'),
  requestsForIsolation: counter('MutateRows requests sent only to find the entry that a refused batch is blamed on.'),
  entriesRetried: counter('Entries sent again after a transient answer or none.'),
  batchEntries: distribution('Entries in one MutateRows request.', '1'),
  requestLatency: distribution('Time from sending a MutateRows request to its last answer.', 'ms'),
  throttledTime: counter(
    'Time that requests waited because the service asked for a lower rate: Bigtable by RateLimitInfo or RESOURCE_EXHAUSTED, in a source Pub/Sub by RESOURCE_EXHAUSTED. In a scan also that reads waited for maxRowsPerSecond and maxBytesPerSecond.',
    undefined,
    'ms',
  ),
  stalls: counter('Stall warnings: entries in flight and not one answer for 60 s.'),

  // Single-row requests.
  requestsAccepted: counter(
    'Single-row requests that were given to the client, below maxInFlightRequests. Neither a skip nor a request that no client could take.',
  ),
  requestsCompleted: counter(
    'Single-row requests that Bigtable answered, whatever the empty-branch policy makes of the answer; in a staged sink envelopes that are applied, the deduplicated included.',
  ),
  requestsFailed: counter(
    'Single-row requests that failed: refused, ambiguous or fatal; in a sink also records that its serializer refused, and requests that were refused before they were sent. In a staged sink, commit messages that left work unfinished: one for each, however much.',
  ),
  requestsTimedOut: counter(
    'Requests counted by requestsFailed that ran into requestTimeout or the end of their invocation.',
  ),
  requestsDeduplicated: counter(
    'Requests that changed nothing because their marker was there already: an earlier attempt had applied them.',
  ),
  predicatesMatched: counter('Conditional requests whose predicate matched.'),
  predicatesNotMatched: counter('Conditional requests whose predicate did not match.'),
  emptyBranchesSelected: counter(
    'Conditional requests whose selected branch holds no mutation. Counted before the empty-branch policy.',
  ),
  coalescedWrites: counter('Envelopes of a staged sink that were sent together with others of their row.'),
  markerReads: counter(
    'Reads of the markers of a row by a staged sink, because some envelopes of a request were applied before.',
  ),
  writesRetried: counter('Envelopes of a staged sink that were sent again after a transient answer or none.'),
  segmentsCommitted: counter('Segments of a staged sink of which every envelope is answered, deleted from the store.'),
  envelopesSetApart: counter(
    'Envelopes of a staged sink that were refused and set apart, so that nothing waits behind them.',
  ),
  restsFinished: counter('Segments of which everything that had been set apart is answered.'),
  envelopesBeyondHorizon: counter(
    'Envelopes of a staged sink that were too old to be sent, because the markers of earlier copies may be collected.',
  ),
  inFlightRequests: gauge('Single-row requests sent and not yet answered.'),
  rowRequestLatency: distribution('Time from sending a single-row request to its answer or failure.', 'ms'),
  resultsPublished: counter('Results of single-row requests whose publish to the results topic was confirmed.'),
  httpAnswers: counter('Single-row requests over HTTP that were answered, by HTTP status.', ['status']),
  callersGone: counter(
    'Single-row requests over HTTP whose caller left before the answer. A request that was sent by then is cancelled, and may have applied.',
  ),
  httpLatency: distribution('Time from a single-row request over HTTP to its answer.', 'ms'),

  // Staged sink: staging.
  stagedEntries: gauge(
    "Entries held against maxStagedEntries, as far as the instance knows: the coordinator's last count, and the entries that the instance staged since.",
  ),
  stagedBytes: gauge(
    'Size of the entries counted by stagedEntries, with 256 B for each, as held against maxStagedBytes.',
    'By',
  ),
  envelopesStaged: counter('Envelopes that were stored, copies by a redelivery included.'),
  segmentsStaged: counter('Segments that were stored.'),
  stagingLatency: distribution('Time from handing the envelopes of a message over to their being stored.', 'ms'),
  stagingRetries: counter('Commits of segments that were tried again after a transient answer or none.'),
  backlogRefusals: counter(
    'Messages turned away because the backlog, or what is set apart, had reached maxStagedEntries or maxStagedBytes.',
  ),

  // Coordinator: checkpoints of a staged pipeline.
  checkpointsCompleted: counter('Checkpoints completed: their segments may be written from then on.'),
  checkpointsCommitted: counter('Checkpoints of which every envelope is answered, noticed at a tick.'),
  checkpointsResent: counter(
    'Checkpoints whose work was sent again because some of it was left when the ack deadline had passed: a message or its committer was lost, or something is not available.',
  ),
  segmentsResent: counter(
    'Single segments sent to committers beside the work of their checkpoint: late repeats of what was finished, and segments of an earlier format.',
  ),
  stagedBacklogSegments: gauge(
    'Segments that are staged and not yet in their rows, whether their checkpoint is complete or not.',
  ),
  stagedBacklogEnvelopes: gauge('Envelopes of the segments counted by stagedBacklogSegments.'),
  stagedBacklogBytes: gauge('Payload of the segments counted by stagedBacklogSegments.', 'By'),
  restSegments: gauge('Segments of which something was refused and is set apart, to be tried again.'),
  restEnvelopes: gauge(
    'Envelopes that are set apart because they, their table or a permission are refused; at maxStagedEntries further records are turned away.',
  ),
  restBytes: gauge('Payload of the envelopes counted by restEnvelopes.', 'By'),
  checkpointAge: gauge(
    'Age of the oldest segment of a completed checkpoint that is not in its rows; 0 without one.',
    'ms',
  ),
  timeToVisibility: distribution(
    'Time from staging the oldest envelope of a checkpoint to the answer to its last one, once it is committed.',
    'ms',
  ),
  tickLatency: distribution(
    'Duration of one tick of the coordinator, failed ones and those that found the lease held included.',
    'ms',
  ),
  tickConflicts: counter('Ticks that ended because what they read was changed meanwhile, each time anew.'),
  tickFailures: counter('Ticks that failed. Whatever one left, the next repairs.'),
  leasesLost: counter('Times that a coordinator found its lease taken over by another in the middle of its run.'),

  // Coordinator: runs of a scan. A slot that finishes the last split counts the end of its run too.
  scanRunsCompleted: counter('Runs of a scan that ended with every split done.'),
  scanRunsFailed: counter('Runs of a scan that ended otherwise, the cancelled left out.'),
  splitsOpen: gauge('Splits of the runs under way that are not done, at the last tick.'),
  slotsWanted: gauge('Slots that should be at work: parallelism while a run reads, else 0.'),
  slotsHeld: gauge(
    'Slots whose lease somebody holds while a run reads, looked at every 30 s. Below slotsWanted one is dead.',
  ),
  runProgressAge: gauge(
    'Time for which no split of the runs under way ended or moved, as far as the instance of the coordinator has seen.',
    'ms',
  ),

  // Coordinator: the ledger of a change stream, as it was read last: within a minute.
  changeStreamLag: gauge('Now less the least low watermark of all partitions, by confirmed positions.', 's'),
  retentionHeadroom: gauge('Time until the service forgets changes that are not read yet. Alert at half of it.', 's'),
  partitionsOpen: gauge('Partitions that wait, rest or are read.'),
  partitionsFailing: gauge('Partitions of which the last reading failed without getting any further.'),
  partitionsMissing: gauge('Parts of the table that nobody reads: they are recovered by themselves.'),
  unassignedChangeStreamPartitionLagMillis: gauge('Lag of the partition that waits with the oldest position.', 'ms'),
  sourceStopped: gauge('1 while the source is stopped by what holds for the whole table; the log says by what.'),
  changeStreamPartitionsReconciled: counter('Parts of the table that nobody read and that were recovered.'),
  changeStreamTokenlessRestarts: counter('Recoveries without tokens from the last position: changes come twice.'),
  changeStreamClampedRestarts: counter('Recoveries without tokens that lose changes; the log has both positions.'),

  // Sources: messages on their way to a topic.
  emissionWindowBytes: gauge(
    'Messages of a source that are not confirmed yet, as held against maxOutstandingBytes: their size, with 512 B for each.',
    'By',
  ),
  messagesPublished: counter(
    'Messages of a source whose publish was confirmed, repetitions included. Letters are among them.',
  ),
  bytesPublished: counter('Size of the messages counted by messagesPublished, attributes included.', undefined, 'By'),
  publishLatency: distribution('Time from sending a Publish request to its answer or failure.', 'ms'),
  publishRetries: counter('Publish requests that were sent again after a transient answer or none.'),

  // Messages.
  messagesAcknowledged: counter('Messages answered with 204.'),
  messagesRedelivered: counter('Messages answered so that Pub/Sub delivers them again, by reason.', ['reason']),
  messagesWithoutRecords: counter(
    'Messages of a sink that held no record, such as an empty list or blank lines, and were acknowledged.',
  ),
  messageLatency: distribution('Time from the push to its answer.', 'ms'),
  publishToAppliedLatency: distribution('Time from publish to the answer that the row is applied.', 'ms'),

  // Scan source.
  rowsRead: counter('Rows that were read of a table and handed to the form of the run.'),
  bytesRead: counter('Size of the rows counted by rowsRead, by an estimate: not the billed one.', undefined, 'By'),
  rowsQuarantined: counter('Rows, or messages of rows, that the dead-letter topic confirmed in their place.'),
  rowKeySamplesTaken: counter('Times that a table was asked where it would be cut: once for each run.'),
  splitsTaken: counter('Splits that a slot took.'),
  splitsReturned: counter(
    'Splits that a slot gave back before they were done: its time was used up, or it was told to stop.',
  ),
  splitFailures: counter('Times that the reading of a split failed; it is tried again from its position.'),
  positionsCommitted: counter('Positions of splits that were written because they had moved.'),
  sessionMillis: distribution('Time that an invocation of a slot worked.', 'ms'),

  // Change stream source.
  watchdogReopens: counter(
    'Times that the stream of a partition was opened anew because the service had told nothing of it for 30 s, not even a heartbeat.',
  ),
  changeStreamReadsStarted: counter(
    'Readings of a partition that were begun: after a take, a failure or a rotation. Streams that are opened again inside one are not among them.',
  ),
  activeChangeStreamReads: gauge('Partitions that this slot reads now.'),
  changeStreamMutationsRead: counter(
    'Changes that were read, of users and of garbage collection, repetitions included.',
  ),
  changeStreamUserMutationsRead: counter('Changes of users among changeStreamMutationsRead.'),
  changeStreamGarbageCollectionMutationsRead: counter('Changes of garbage collection among changeStreamMutationsRead.'),
  changeStreamMutationEntriesFiltered: counter(
    'Entries of changes that the lists of families and qualifiers left out, once the position is behind their change.',
  ),
  changeStreamRecordsSkippedWithoutChange: counter(
    'Changes among recordsSkipped of which the lists left no entry, with skipMessagesWithoutChange.',
  ),
  changeStreamHeartbeatsRead: counter('Heartbeats that were read.'),
  changeStreamCloseStreamsRead: counter('Times that the service ended a partition, as it was read.'),
  changeStreamPartitionSplits: counter('Partitions that began where one other ended: of a split, or moved.'),
  changeStreamPartitionMerges: counter('Partitions that began where several others ended.'),
  successorlessCloses: counter(
    'Times that the service ended a partition without saying what comes after it: it is read again from its last position.',
  ),
  partitionsDiscovered: counter('Partitions that were seen for the first time, those of the start included.'),
  partitionsExpired: counter(
    'Times that a partition was found whose position the table no longer keeps, and no resumeFallback: it stands still.',
  ),
  partitionsRestartedByFallback: counter(
    'Partitions that went on from resumeFallback because the table no longer kept their position: changes in between are lost.',
  ),
  partitionsTaken: counter('Partitions that a slot took.'),
  partitionsReturned: counter(
    'Partitions that a slot gave back with their position: rotated, handed to another slot, or at the end of its session.',
  ),
  partitionFailures: counter('Times that the reading of a partition failed; it is tried again from its position.'),
  readsCancelled: counter(
    'Reads of a partition that the connector cancelled: each is an entry of the audit log of the service. Without partitions that wait there are none but at the end of a session.',
  ),
  missedHeartbeatIntervals: gauge(
    'Whole intervals of 5 s since the last change or heartbeat, of the partition of this slot that is silent for longest.',
  ),
  partitionLowWatermarkMillis: gauge(
    'The least low watermark of the positions that this slot has, in milliseconds since the epoch; 0 without one.',
    'ms',
  ),
  commitToPublishLatency: distribution(
    'Time from the commit of a change to the confirmation of its message, of the latest change of what was confirmed together; the clocks are those of the table and of the instance.',
    'ms',
  ),
  handOverGap: distribution(
    'Time for which a partition waited between two readers, to the moment that its reading began.',
    'ms',
  ),

  // Failure policy and dead letters.
  recordsDropped: counter('Records dropped by the policy log-and-drop.'),
  deadLettersPublished: counter('Dead letters whose publish was confirmed.'),
  outstandingDeadLetters: gauge('Dead letters published and not yet confirmed.'),
  deadLetterFlushMillis: gauge('Duration of the last wait for dead letters to be confirmed.', 'ms'),
  longestDeadLetterFlushMillis: gauge('Longest such wait of this instance.', 'ms'),
  rejectionLimitTrips: counter('Times that maxConsecutiveRejections stopped this instance from acknowledging.'),
} as const satisfies Record<string, MetricDeclaration>;

export type MetricName = keyof typeof METRICS;

type NamesOfKind<Kind extends MetricDeclaration['kind']> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];

export type CounterName = NamesOfKind<'counter'>;
export type GaugeName = NamesOfKind<'gauge'>;
export type DistributionName = NamesOfKind<'distribution'>;
